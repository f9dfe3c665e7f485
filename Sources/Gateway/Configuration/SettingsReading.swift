internal import Foundation

extension Settings {
    init(_ root: SectionReader) throws(ConfigurationError) {
        self.init()
        web = try Web(try root.section("web"))
        sip = try SIP(try root.section("sip"))
        media = try Media(try root.section("media"))
        dtls = try DTLS(try root.section("dtls"))
        wcs = try WCS(try root.section("wcs"))
        trunk = try Trunk(try root.section("trunk"))
        demo = try Demo(try root.section("demo"))
        limits = try Limits(try root.section("limits"))
        let log = try root.section("log")
        logLevel = try log.word("level", default: logLevel)
        try log.finish()
        try root.finish()
        try refuseCollisions(root)
    }
}

extension Settings {
    /// Rules that join two sections.
    private func refuseCollisions(_ root: SectionReader) throws(ConfigurationError) {
        guard demo.enabled else { return }
        if demo.sipPort == sip.port, sip.port != 0 {
            throw root.error("demo.sipPort", "is the same as sip.port")
        }
        if demo.mediaPorts.overlaps(media.trunkPorts) || demo.mediaPorts.overlaps(media.clientPorts) {
            throw root.error("demo.mediaPorts", "overlaps media.trunkPorts or media.clientPorts")
        }
    }
}

extension Settings.Web {
    init(_ section: SectionReader) throws(ConfigurationError) {
        self.init()
        host = try section.string("host", default: host)
        port = try section.port("port", default: port)
        softPhone = try section.bool("softPhone", default: softPhone)
        try section.finish()
    }
}

extension Settings.SIP {
    init(_ section: SectionReader) throws(ConfigurationError) {
        self.init()
        host = try section.string("host", default: host)
        port = try section.port("port", default: port)
        transports = try section.words("transports", default: transports)
        userAgent = try section.string("userAgent", default: userAgent)
        guard userAgent.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw section.error("userAgent", "takes printable ASCII only")
        }
        try section.finish()
    }
}

extension Settings.Media {
    init(_ section: SectionReader) throws(ConfigurationError) {
        self.init()
        clientAddresses = try section.strings("clientAddresses")
        if clientAddresses?.isEmpty == true { throw section.error("clientAddresses", "the list is empty") }
        clientPorts = try section.portRange("clientPorts", default: clientPorts)
        trunkAddress = try section.string("trunkAddress", default: trunkAddress)
        trunkPorts = try section.portRange("trunkPorts", default: trunkPorts)
        guard !clientPorts.overlaps(trunkPorts) else {
            throw section.error("trunkPorts", "overlaps media.clientPorts")
        }
        lanes = try section.integer("lanes", default: lanes, in: 0...256)
        resampler = try section.word("resampler", default: resampler)
        opusBitrate = try section.integer("opusBitrate", default: opusBitrate, in: 6000...510_000)
        opusComplexity = try section.integer("opusComplexity", default: opusComplexity, in: 0...10)
        opusFEC = try section.bool("opusFEC", default: opusFEC)
        jitterCeilingMilliseconds = try section.integer(
            "jitterCeilingMilliseconds", default: jitterCeilingMilliseconds, in: 20...1000)
        timeout = try section.duration("timeoutSeconds", default: 30, in: 1...86_400)
        iceTimeout = try section.duration("iceTimeoutSeconds", default: 15, in: 1...300)
        try section.finish()
    }
}

extension Settings.DTLS {
    init(_ section: SectionReader) throws(ConfigurationError) {
        self.init()
        certificateFile = try section.optionalString("certificateFile")
        privateKeyFile = try section.optionalString("privateKeyFile")
        for (key, file) in [("certificateFile", certificateFile), ("privateKeyFile", privateKeyFile)] {
            guard let file else { continue }
            guard FileManager.default.isReadableFile(atPath: file) else {
                throw section.error(key, "the file '\(file)' is missing or not readable")
            }
        }
        if certificateFile != nil, privateKeyFile == nil {
            throw section.error("privateKeyFile", "is required when dtls.certificateFile is given")
        }
        if certificateFile == nil, privateKeyFile != nil {
            throw section.error("certificateFile", "is required when dtls.privateKeyFile is given")
        }
        try section.finish()
    }
}

extension Settings.WCS {
    init(_ section: SectionReader) throws(ConfigurationError) {
        self.init()
        applicationKeys = try section.strings("applicationKeys") ?? applicationKeys
        pingInterval = try section.duration("pingIntervalSeconds", default: 5, in: 1...3600)
        missedPongs = try section.integer("missedPongs", default: missedPongs, in: 1...1000)
        connectionTimeout = try section.duration("connectionTimeoutSeconds", default: 10, in: 1...3600)
        closeOnRegistrationFailure = try section.bool(
            "closeOnRegistrationFailure", default: closeOnRegistrationFailure)
        inviteParameters = try section.word("inviteParameters", default: inviteParameters)
        rejectStatus = try section.integer("rejectStatus", default: rejectStatus, in: 486...603)
        guard [486, 603].contains(rejectStatus) else { throw section.error("rejectStatus", "takes 486 or 603") }
        announceEarlyMedia = try section.bool("announceEarlyMedia", default: announceEarlyMedia)
        messagesPerSecond = try section.integer("messagesPerSecond", default: messagesPerSecond, in: 1...10_000)
        try section.finish()
    }
}

extension Settings.Trunk {
    init(_ section: SectionReader) throws(ConfigurationError) {
        self.init()
        host = try section.optionalHostAndPort("host")
        outboundProxy = try section.optionalHostAndPort("outboundProxy")
        user = try section.optionalString("user")
        authName = try section.optionalString("authName")
        password = try section.optionalString("password").map { Secret($0) }
        register = try section.bool("register", default: register)
        codecs = try section.words("codecs", default: codecs)
        packetMilliseconds = try section.integer("packetMilliseconds", default: packetMilliseconds, in: 10...60)
        guard packetMilliseconds % 10 == 0 else {
            throw section.error("packetMilliseconds", "takes 10, 20, 30, 40, 50 or 60")
        }
        ringTimeout = try section.duration("ringTimeoutSeconds", default: 60, in: 1...3600)
        longestCall = try section.duration("longestCallSeconds", default: 7200, in: 1...604_800)
        latch = try section.bool("latch", default: latch)
        incoming = try section.optionalString("incoming")
        if register, host == nil { throw section.error("host", "is required when trunk.register is true") }
        if register, user == nil { throw section.error("user", "is required when trunk.register is true") }
        try section.finish()
    }
}

extension Settings.Demo {
    init(_ section: SectionReader) throws(ConfigurationError) {
        self.init()
        enabled = try section.bool("enabled", default: enabled)
        sipPort = try section.port("sipPort", default: sipPort)
        mediaPorts = try section.portRange("mediaPorts", default: mediaPorts)
        speechFile = try section.string("speechFile", default: speechFile)
        digitsFolder = try section.string("digitsFolder", default: digitsFolder)
        try section.finish()
    }
}

extension Settings.Limits {
    init(_ section: SectionReader) throws(ConfigurationError) {
        self.init()
        sessions = try section.integer("sessions", default: sessions, in: 1...1_000_000)
        callsPerSession = try section.integer("callsPerSession", default: callsPerSession, in: 1...1000)
        try section.finish()
    }
}
