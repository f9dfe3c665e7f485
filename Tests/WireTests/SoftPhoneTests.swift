import Audio
import Foundation
import GatewayTesting
import Testing

extension Wire {
    /// A person at the soft-phone page: presses what is seen, hears what the page's call hears.
    @Suite("Soft phone", .enabled(if: GatewayProcess.serves)) struct SoftPhoneTests {
        @Test(
            "Sign in, call the echo number, send a key, hold, hang up; at a desk's and at a phone's width",
            arguments: [(width: 1200, isPhone: false), (width: 375, isPhone: true)])
        func call(width: Int, isPhone: Bool) async throws {
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            var wishes = ChromiumPage.Wishes(tone: (hertz: 1000, level: -20))
            wishes.size = (width, isPhone ? 780 : 800)
            wishes.isPhone = isPhone
            let page = try await browser.open(gateway.page, wishes: wishes)
            try await picture(of: page, "sign-in", width)
            try await page.click("#connect")
            try await page.wait(until: "document.querySelector('#link').dataset.state === 'on'")
            try await page.type("100", into: "#number")
            try await picture(of: page, "ready", width)
            try await page.click("#call")
            try await page.wait(until: "!document.querySelector('#timer').hidden")
            try await page.wait(until: "__ear.seconds() > 1")
            try await page.clearEar()
            let heard = try await page.listen(seconds: 2).heard
            #expect(abs(heard.level(of: 1000) + 20) < 3)
            try await page.click("#pad [data-key='5']")
            try await page.wait(until: "document.querySelector('#keys-sent').textContent.includes('5')")
            try await picture(of: page, "in-call", width)
            try await page.click("#hold")
            try await page.wait(until: "document.querySelector('#hold').getAttribute('aria-pressed') === 'true'")
            try await page.click("#hold")
            try await page.wait(until: "document.querySelector('#hold').getAttribute('aria-pressed') === 'false'")
            try await page.click("#hang-up")
            try await page.wait(until: "!document.querySelector('#dialler').hidden")
            #expect(page.console.filter { $0.hasPrefix("thrown") || $0.hasPrefix("error") } == [])
            await browser.stop()
            #expect(await gateway.stop() == .status(0))
        }

        @Test("The call-back number rings the page, which answers")
        func incoming() async throws {
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            let page = try await browser.open(gateway.page)
            try await page.click("#connect")
            try await page.wait(until: "document.querySelector('#link').dataset.state === 'on'")
            try await page.type("107", into: "#number")
            try await page.click("#call")
            try await page.wait(until: "!document.querySelector('#incoming').hidden", within: .seconds(20))
            try await picture(of: page, "incoming", 1200)
            try await page.click("#answer")
            try await page.wait(until: "!document.querySelector('#timer').hidden")
            try await page.clearEar()
            #expect(try await page.listen(seconds: 2).heard.level.rms > -45)
            try await page.click("#hang-up")
            await browser.stop()
            await gateway.stop()
        }

        /// Keeps a picture for a person to look at, and checks that nothing sticks out at the side.
        private func picture(of page: ChromiumPage, _ name: String, _ width: Int) async throws {
            let folder = try Fixtures.buildFolder("screenshots")
            try await page.screenshot(to: folder.appending(path: "\(name)-\(width).png"))
            let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            #expect(try await page.run(fits, as: Bool.self), "\(name) fits \(width) pixels")
        }
    }
}
