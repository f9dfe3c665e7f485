import SoftPhone
import Testing

@Suite struct SoftPhoneTests {
    private func text(_ path: String) throws -> String {
        String(decoding: try #require(SoftPhone.files.first { $0.path == path }).body, as: UTF8.self)
    }

    @Test func everyFileThatThePageAsksForIsServed() throws {
        let paths = Set(SoftPhone.files.map(\.path))
        #expect(paths.count == SoftPhone.files.count)
        var asked: Set<String> = []
        for file in SoftPhone.files {
            for match in String(decoding: file.body, as: UTF8.self).matches(of: /["'](\/[a-z]+\.(?:js|css|svg))["']/) {
                asked.insert(String(match.1))
            }
        }
        #expect(asked.union(["/"]) == paths)
        #expect(SoftPhone.files[0].path == "/")
    }

    @Test func thePageKeepsItsOwnPolicy() throws {
        let page = try text("/")
        #expect(!page.contains("style="))
        #expect(page.matches(of: /<script(?![^>]*src=)/).isEmpty)
        #expect(page.matches(of: /\son[a-z]+=/).isEmpty)
        for file in SoftPhone.files where file.path != "/icon.svg" {
            let urls = String(decoding: file.body, as: UTF8.self).matches(of: /https?:\/\//)
            #expect(urls.isEmpty, "\(file.path)")
        }
        #expect(
            SoftPhone.headers.contains { $0.name == "Content-Security-Policy" && $0.value.contains("default-src 'none'") })
    }

    @Test func everyElementThatTheScriptNamesIsThere() throws {
        let page = try text("/")
        let identifiers = try text("/phone.js").matches(of: /\$\("([a-z-]+)"\)/).map { String($0.1) }
        #expect(identifiers.count > 40)
        for identifier in Set(identifiers) { #expect(page.contains("id=\"\(identifier)\""), "\(identifier)") }
    }

    @Test func thePasswordIsNotStored() throws {
        let script = try text("/phone.js")
        let stored = try #require(script.firstRange(of: "localStorage.setItem"))
        #expect(!script[stored.lowerBound...].prefix(60).contains("password"))
        let form = try #require(script.firstRange(of: "function readForm"))
        #expect(!script[form.lowerBound...].prefix(400).contains("password"))
    }
}
