// swift-tools-version: 6.1
import PackageDescription

// The house: each floor leans only on those below it (README.md has the map).
// No package from outside the toolchain is used; each C library is a Debian package behind one door.

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

func door(_ name: String, _ pkgConfig: String?, _ package: String?) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig,
        providers: package.map { [.apt([$0])] })
}

func room(_ floor: String, _ name: String, _ dependencies: [String], resources: [Resource]? = nil) -> Target {
    .target(
        name: name, dependencies: dependencies.map { .byName(name: $0) }, path: "Sources/\(floor)/\(name)",
        resources: resources, swiftSettings: swiftSettings)
}

func tests(_ name: String, _ dependencies: [String], resources: [Resource]? = nil) -> Target {
    .testTarget(
        name: name, dependencies: (dependencies + ["GatewayTesting"]).map { .byName(name: $0) },
        path: "Tests/\(name)", resources: resources, swiftSettings: swiftSettings)
}

let doors: [Target] = [
    door("CGLib", "gio-2.0", "libglib2.0-dev"),  // the control plane's main loop
    door("CNice", "nice", "libnice-dev"),  // ICE
    door("COpenSSL", "openssl", "libssl-dev"),  // DTLS, certificates, digests
    door("CSRTP", "libsrtp2", "libsrtp2-dev"),  // SRTP and SRTCP
    door("COpus", "opus", "libopus-dev"),  // the client leg's codec
    door("CSpeexDSP", "speexdsp", "libspeexdsp-dev"),  // jitter buffer, resampler
    door("CSpanDSP", "spandsp", "libspandsp-dev"),  // loss concealment of G.711
    door("CSofiaSIP", "sofia-sip-ua-glib", "libsofia-sip-ua-glib-dev"),  // SIP user agents
    door("CSoup", "libsoup-3.0", "libsoup-3.0-dev"),  // HTTP and WebSocket
    door("CLinux", nil, nil),  // socket calls: epoll, reuse-port filters
]

let libraries: [Target] = [
    room("Libraries", "GLibLoop", ["CGLib"]),
    room("Libraries", "ICE", ["CNice", "CGLib", "GLibLoop"]),
    room("Libraries", "DTLS", ["COpenSSL"]),
    room("Libraries", "SRTP", ["CSRTP"]),
    room("Libraries", "Opus", ["COpus"]),
    room("Libraries", "SpeexDSP", ["CSpeexDSP"]),
    room("Libraries", "SpanDSP", ["CSpanDSP"]),
    room("Libraries", "SIPStack", ["CSofiaSIP", "CGLib", "GLibLoop"]),
    room("Libraries", "WebServer", ["CSoup", "CGLib", "GLibLoop"]),
    room("Libraries", "Sockets", ["CLinux"]),
]

let core: [Target] = [
    room("Core", "RTP", []),
    room("Core", "SDP", []),
    room("Core", "Audio", []),
    room("Core", "CallModel", []),
    room("Core", "WCSProtocol", []),
]

let media: [Target] = [
    room("Media", "MediaGraph", ["RTP", "Audio", "Opus", "SpeexDSP", "SpanDSP", "SRTP", "Sockets"]),
    room("Media", "MediaRuntime", ["MediaGraph", "RTP", "Audio", "SRTP", "Sockets"]),
    room("Media", "ClientTransport", ["GLibLoop", "ICE", "DTLS", "SRTP", "SDP", "RTP", "Sockets"]),
    room("Media", "TrunkTransport", ["Sockets"]),
]

let control: [Target] = [
    room("Control", "Telemetry", []),
    room("Control", "Switchboard", ["GLibLoop", "CallModel", "Telemetry"]),
    room("Control", "WCSFace", ["GLibLoop", "WebServer", "WCSProtocol", "CallModel", "Switchboard", "Telemetry"]),
    room("Control", "TrunkFace", ["GLibLoop", "SIPStack", "CallModel", "Switchboard", "Telemetry"]),
]

let gateway: [Target] = [
    room("Gateway", "Configuration", []),
    room("Gateway", "SoftPhone", [], resources: [.embedInCode("Page")]),
    room("Gateway", "Sounds", ["Audio", "SpeexDSP"]),
    room("Gateway", "LegFormats", ["SDP", "RTP", "MediaGraph"]),
    room(
        "Gateway", "DemoTrunk",
        [
            "GLibLoop", "SIPStack", "SDP", "RTP", "Audio", "MediaGraph", "MediaRuntime", "TrunkTransport", "Sockets",
            "Sounds",
            "LegFormats",
        ]),
    room(
        "Gateway", "HeadlessClient",
        [
            "GLibLoop", "WebServer", "WCSProtocol", "CallModel", "ClientTransport", "SDP", "RTP", "Audio", "MediaGraph",
            "MediaRuntime", "SRTP", "Opus", "Sockets", "Sounds", "LegFormats", "DTLS", "ICE",
        ]),
    room(
        "Gateway", "Gateway",
        [
            "Configuration", "SoftPhone", "DemoTrunk", "GLibLoop", "WebServer", "SIPStack", "Switchboard", "WCSFace",
            "TrunkFace", "CallModel", "SDP", "RTP", "Audio", "MediaGraph", "MediaRuntime", "ClientTransport",
            "TrunkTransport",
            "DTLS", "SRTP", "Sockets", "ICE", "Telemetry", "LegFormats", "Opus",
        ]),
    .executableTarget(
        name: "trunkline",
        dependencies: [
            "Gateway", "Configuration", "HeadlessClient", "GLibLoop", "Telemetry", "Sounds", "Audio", "MediaGraph",
        ], path: "Sources/trunkline",
        swiftSettings: swiftSettings),
]

let testing: [Target] = [
    room("Testing", "GatewayTesting", ["Audio", "RTP"]),
    room("Testing", "SwitchboardTesting", ["Switchboard", "CallModel", "GLibLoop"]),
]

let testTargets: [Target] = [
    tests("RTPTests", ["RTP"]),
    tests("SDPTests", ["SDP"]),
    tests("AudioTests", ["Audio"]),
    tests("CallModelTests", ["CallModel"]),
    tests("WCSProtocolTests", ["WCSProtocol"]),
    tests("GLibLoopTests", ["GLibLoop"]),
    tests("ICETests", ["ICE", "GLibLoop"]),
    tests("DTLSTests", ["DTLS"]),
    tests("SRTPTests", ["SRTP"]),
    tests("OpusTests", ["Opus", "Audio"]),
    tests("SpeexDSPTests", ["SpeexDSP", "SpanDSP", "Audio"]),
    tests("SIPStackTests", ["SIPStack", "GLibLoop"]),
    tests("WebServerTests", ["WebServer", "GLibLoop"]),
    tests("SocketsTests", ["Sockets"]),
    tests("MediaGraphTests", ["MediaGraph", "RTP", "Audio", "Opus", "SRTP", "SpeexDSP", "Sockets"]),
    tests("MediaRuntimeTests", ["MediaRuntime", "MediaGraph", "Sockets", "RTP", "Audio", "SRTP"]),
    tests("ClientTransportTests", ["ClientTransport", "ICE", "DTLS", "SRTP", "SDP", "GLibLoop", "Sockets", "RTP"]),
    tests("TrunkTransportTests", ["TrunkTransport", "Sockets"]),
    tests("TelemetryTests", ["Telemetry"]),
    tests("TrunkFaceTests", ["SwitchboardTesting", "TrunkFace", "Switchboard", "CallModel", "GLibLoop", "SIPStack"]),
    tests(
        "WCSFaceTests",
        ["SwitchboardTesting", "WCSFace", "WCSProtocol", "WebServer", "Switchboard", "CallModel", "GLibLoop"]),
    tests("SwitchboardTests", ["SwitchboardTesting", "Switchboard", "CallModel", "GLibLoop"]),
    tests("SoftPhoneTests", ["SoftPhone"]),
    tests("ConfigurationTests", ["Configuration"]),
    tests(
        "WireTests",
        [
            "Audio", "WebServer", "GLibLoop", "Gateway", "WCSProtocol", "ClientTransport", "DTLS", "ICE", "LegFormats",
            "MediaGraph", "MediaRuntime", "RTP", "SDP", "SRTP", "Sockets",
        ], resources: [.copy("Fixtures")]),
]

let package = Package(
    name: "trunkline",
    products: [
        .executable(name: "trunkline", targets: ["trunkline"]),
        // For Benchmarks/ only.
        .library(
            name: "MediaParts",
            targets: ["MediaGraph", "MediaRuntime", "RTP", "Audio", "Opus", "SpeexDSP", "SpanDSP", "SRTP", "Sockets"]),
    ],
    targets: doors + libraries + core + media + control + gateway + testing + testTargets,
    swiftLanguageModes: [.v6]
)
