import Testing

@testable import WCSProtocol

private func json(_ text: String) throws -> JSONValue { try JSONReader.parse(text) }

@Suite struct ClientMessageTests {
    @Test func theConnectionOfAWebPhoneIsRead() throws {
        let text = #"""
            {"message":"connection","data":[{
              "appKey":"defaultApp","mediaProviders":["WebRTC","WSPlayer"],"keepAlive":true,
              "clientVersion":"2.0","clientOSVersion":"5.0 (X11)","clientBrowserVersion":"Mozilla/5.0",
              "msePacketizationVersion":2,
              "sipLogin":"7001","sipAuthenticationName":"7001","sipPassword":"pw",
              "sipDomain":"pbx.example.org","sipOutboundProxy":"pbx.example.org","sipPort":"5060",
              "sipRegisterRequired":true}]}
            """#
        guard case .connection(let request) = try WCSClientMessage.parse(text) else {
            Issue.record("not a connection")
            return
        }
        #expect(request.appKey == "defaultApp")
        #expect(request.mediaProviders == ["WebRTC", "WSPlayer"])
        #expect(request.keepAlive)
        #expect(request.clientBrowserVersion == "Mozilla/5.0")
        #expect(request.account == WCSAccount(login: "7001", password: "pw", domain: "pbx.example.org"))
        #expect(request.unknownKeys.isEmpty)
    }

    @Test func scalarsMayComeAsStringsNumbersOrBooleans() throws {
        let text = #"""
            {"message":"connection","data":[{"appKey":"a","keepAlive":"true","sipLogin":7001,"sipDomain":"d","sipPort":"5080",
             "sipRegisterRequired":"false","iosThing":1}]}
            """#
        guard case .connection(let request) = try WCSClientMessage.parse(text) else { return }
        #expect(request.keepAlive)
        #expect(request.account?.login == "7001")
        #expect(request.account?.port == 5080)
        #expect(request.account?.registerRequired == false)
        #expect(request.unknownKeys == ["iosThing"])
    }

    @Test func missingNameProxyPortAndRegistrationAreDefaulted() throws {
        let text =
            #"{"message":"connection","data":[{"sipLogin":"u","sipDomain":"d.example","sipPort":"","authToken":null}]}"#
        guard case .connection(let request) = try WCSClientMessage.parse(text) else { return }
        #expect(request.appKey == "defaultApp")
        #expect(request.authToken == nil)
        #expect(request.account?.authenticationName == "u")
        #expect(request.account?.outboundProxy == "d.example")
        #expect(request.account?.port == 5060)
        #expect(request.account?.registerRequired == true)
    }

    @Test func aConnectionWithoutSIPDataHasNoAccount() throws {
        for data in [#"[{"appKey":"clickToCallApp","sipLogin":""}]"#, "[]", "[null]", "null", "{}"] {
            guard case .connection(let request) = try WCSClientMessage.parse(#"{"message":"connection","data":\#(data)}"#)
            else { return }
            #expect(request.account == nil)
        }
        guard case .connection(let bare) = try WCSClientMessage.parse(#"{"message":"connection"}"#) else { return }
        #expect(bare.account == nil)
    }

    @Test(arguments: ["noticationToken", "notificationToken"]) func bothSpellingsOfThePushTokenAreTaken(key: String) throws
    {
        guard
            case .connection(let request) = try WCSClientMessage.parse(
                #"{"message":"connection","data":[{"\#(key)":"t"}]}"#)
        else { return }
        #expect(request.pushToken == "t")
    }

    @Test func thePasswordIsNeverShown() {
        let account = WCSAccount(login: "u", password: "s3cret", domain: "d")
        var dumped = ""
        dump(account, to: &dumped)
        for text in ["\(account)", String(reflecting: account), "\(ConnectionRequest(account: account))", dumped] {
            #expect(!text.contains("s3cret"))
        }
        let info = ConnectionInfo(echoing: ConnectionRequest(account: account), authToken: "t")
        #expect(!WCSServerMessage.getUserData(info).text.contains("s3cret"))
    }

    @Test func theCallOfAWebPhoneIsRead() throws {
        let text = #"""
            {"message":"call","data":[{
              "callId":"475c5330-ecfd-11f1-b377-3306344a998c","incoming":false,
              "hasVideo":false,"hasAudio":true,"status":"PENDING","mediaProvider":"WebRTC",
              "sdp":"v=0\r\no=- ...","caller":"7001","callee":"4421","visibleName":"Front desk",
              "custom":{"a":[1,null]},"inviteParameters":{"p":"v","n":1},"sipSDP":["b=AS:64"]}]}
            """#
        guard case .call(let request) = try WCSClientMessage.parse(text) else {
            Issue.record("not a call")
            return
        }
        #expect(request.callID == "475c5330-ecfd-11f1-b377-3306344a998c")
        #expect(request.callee == "4421")
        #expect(request.sdp == "v=0\r\no=- ...")
        #expect(request.visibleName == "Front desk")
        #expect(request.custom == .object(["a": .array([.number(1), .null])]))
        #expect(request.inviteParameters == ["p": "v", "n": "1"])
        #expect(request.sipSDP == ["b=AS:64"])
    }

    @Test func aNativeClientSendsItsWholeCallObjectBack() throws {
        let call = CallObject(callID: "c-1", status: .ring, incoming: false, caller: "1", callee: "2", sipStatus: 180)
        let text = #"{"message":"hangup","data":[\#(call.json.text)]}"#
        #expect(try WCSClientMessage.parse(text) == .hangup(callID: "c-1"))
        let hold = #"{"message":"hold","data":[{"callId":"c-1","holdForTransfer":true}]}"#
        #expect(try WCSClientMessage.parse(hold) == .hold(callID: "c-1", forTransfer: true))
    }

    @Test func keysAreReadFromStringsAndNumbers() throws {
        func read(_ fields: String) throws -> DTMFRequest? {
            guard
                case .sendDtmf(let request) = try WCSClientMessage.parse(
                    #"{"message":"sendDtmf","data":[{"callId":"c",\#(fields)}]}"#)
            else { return nil }
            return request
        }
        #expect(try read(#""type":"RFC2833","dtmf":5"#) == DTMFRequest(callID: "c", digits: "5"))
        #expect(
            try read(#""type":"INFO_RELAY","dtmf":"12-3#d""#)
                == DTMFRequest(callID: "c", method: .infoRelay, digits: "123#D"))
        #expect(try read(#""dtmf":"*""#)?.method == .rfc2833)
        #expect(throws: WCSParseError.badValue(message: "sendDtmf", key: "dtmf")) { try read(#""dtmf":"5e""#) }
        #expect(throws: WCSParseError.missing(message: "sendDtmf", key: "dtmf")) { try read(#""type":"INFO""#) }
    }

    @Test func messagesWithoutArgumentComeInEveryShape() throws {
        for data in [#","data":[null]"#, #","data":[]"#, #","data":null"#, ""] {
            #expect(try WCSClientMessage.parse(#"{"message":"pong"\#(data)}"#) == .pong)
            #expect(try WCSClientMessage.parse(#"{"message":"ping"\#(data)}"#) == .ping)
        }
    }

    @Test func unknownNamesAreNoError() throws {
        #expect(try WCSClientMessage.parse(#"{"message":"setLTState","data":[{"x":1}]}"#) == .unknown(name: "setLTState"))
        #expect(
            try WCSClientMessage.parse(#"{"message":"publishStream","data":[{"mediaSessionId":"m","name":"n"}]}"#)
                == .stream(name: "publishStream", StreamRequest(mediaSessionID: "m", name: "n")))
    }

    @Test func whatCannotBeGuessedIsAnErrorThatNamesTheKey() {
        let cases: [(String, WCSParseError)] = [
            (#"{"message":"call","data":[{"callee":"1"}]}"#, .missing(message: "call", key: "callId")),
            (#"{"message":"call","data":[{"callId":"a b"}]}"#, .badValue(message: "call", key: "callId")),
            (#"{"message":"call","data":[{"callId":["a"]}]}"#, .badValue(message: "call", key: "callId")),
            (#"{"message":"hangup","data":[]}"#, .missing(message: "hangup", key: "callId")),
            (#"{"message":"transfer","data":[{"callId":"a"}]}"#, .missing(message: "transfer", key: "target")),
            (
                #"{"message":"connection","data":[{"sipLogin":"a","sipPort":"70000"}]}"#,
                .badValue(message: "connection", key: "sipPort")
            ),
            (
                #"{"message":"connection","data":[{"keepAlive":"maybe"}]}"#,
                .badValue(message: "connection", key: "keepAlive")
            ),
            (#"{"data":[]}"#, .notAnEnvelope), ("[]", .notAnEnvelope), ("5", .notAnEnvelope),
            (#"{"message":5}"#, .notAnEnvelope), (#"{"message":""}"#, .notAnEnvelope),
        ]
        for (text, expected) in cases {
            #expect(throws: expected) { try WCSClientMessage.parse(text) }
        }
    }

    @Test func everyMessageSurvivesPrintingAndReading() throws {
        var request = ConnectionRequest(
            appKey: "k", keepAlive: true, authToken: "t",
            account: WCSAccount(login: "u", password: "p\"\\", domain: "d", port: 5070, visibleName: "Ü"))
        request.custom = .object(["z": .bool(false)])
        var call = CallRequest(callID: "c", callee: "sip:1@d", sdp: "v=0\r\n", caller: "u", visibleName: "n")
        call.inviteParameters = ["a": "b"]
        let messages: [WCSClientMessage] = [
            .connection(request), .call(call), .answer(AnswerRequest(callID: "c", sdp: "v=0\r\n")), .hangup(callID: "c"),
            .hold(callID: "c", forTransfer: false), .hold(callID: "c", forTransfer: true), .unhold(callID: "c"),
            .transfer(callID: "c", target: "2"), .sendDtmf(DTMFRequest(callID: "c", method: .info, digits: "1#")),
            .sendData(operationID: "o", payload: .object(["a": .null])),
            .dataStatusEvent(DataStatusEvent(operationID: "o", isAccepted: true)), .pong, .ping, .pushLogs("l\n"),
            .submitBugReport(.object(["text": .string("x")])), .sessionDebug(command: "start"),
            .stream(name: "playStream", StreamRequest(mediaSessionID: "m", name: "n")),
            .availableStream(StreamRequest(mediaSessionID: "m", name: "n")), .unknown(name: "other"),
        ]
        for message in messages { #expect(try WCSClientMessage.parse(message.text) == message) }
    }
}

@Suite struct ServerMessageTests {
    private let call = CallObject(
        callID: "475c5330-ecfd-11f1-b377-3306344a998c", status: .ring, incoming: false, caller: "7001", callee: "4421",
        visibleName: "Front desk", sipStatus: 180)

    @Test func aRingLooksAsClientsExpect() throws {
        let expected = #"""
            {"message":"ring","data":[{"callId":"475c5330-ecfd-11f1-b377-3306344a998c",
              "status":"RING","sipStatus":180,"incoming":false,"caller":"7001","callee":"4421",
              "visibleName":"Front desk","hasAudio":true,"hasVideo":false,
              "mediaProvider":"WebRTC","isMsrp":false,"custom":{},"inviteParameters":{}}]}
            """#
        #expect(try json(WCSServerMessage.ring(call).text) == json(expected))
    }

    @Test func dataIsAlwaysAnArray() {
        #expect(WCSServerMessage.ping.text == #"{"data":[],"message":"ping"}"#)
        #expect(WCSServerMessage.getVersion("5.2.0").text == #"{"data":["5.2.0"],"message":"getVersion"}"#)
        #expect(
            WCSServerMessage.setRemoteSDP(callID: "c", sdp: "v=0\r\n", isInitiator: true).text
                == #"{"data":["c","v=0\r\n",true],"message":"setRemoteSDP"}"#)
    }

    @Test func theUserDataEchoTheRequestWithoutPasswordAndNulls() throws {
        let request = ConnectionRequest(
            appKey: "k", mediaProviders: ["WebRTC"], keepAlive: true,
            account: WCSAccount(login: "7001", password: "pw", domain: "d"), custom: .object(["a": .null, "b": .number(1)]))
        let message = WCSServerMessage.getUserData(ConnectionInfo(echoing: request, authToken: "token"))
        let expected = #"""
            {"message":"getUserData","data":[{"appKey":"k","authToken":"token","status":"ESTABLISHED","sipLogin":"7001",
             "sipAuthenticationName":"7001","sipDomain":"d","sipOutboundProxy":"d","sipPort":5060,"sipRegisterRequired":true,
             "mediaProviders":["WebRTC"],"keepAlive":true,"custom":{"b":1}}]}
            """#
        #expect(try json(message.text) == json(expected))
    }

    @Test(
        arguments: zip(
            CallPhase.allCases,
            [
                "notifyTryingResponse TRYING", "ring RING", "ring SESSION_PROGRESS", "ring RING_MEDIA", "talk ESTABLISHED",
                "hold HOLD", "finish FINISH", "finish BUSY", "finish FAILED",
            ]))
    func eachPhaseHasItsMessageAndStatus(phase: CallPhase, expected: String) throws {
        let message = WCSServerMessage.event(for: phase, of: call)
        #expect("\(message.name) \(phase.status.rawValue)" == expected)
        #expect(message.text.contains(#""status":"\#(phase.status.rawValue)""#))
    }

    @Test func anIncomingCallIsDescriptionThenNoticeThenRing() {
        let messages = WCSServerMessage.incoming(call, offer: "v=0\r\n")
        #expect(messages.map(\.name) == ["setRemoteSDP", "notifyIncomingCall", "ring"])
        guard case .setRemoteSDP(_, _, false) = messages[0], case .notifyIncomingCall(let object) = messages[1] else {
            Issue.record("\(messages)")
            return
        }
        #expect(object.incoming)
        #expect(object.status == .ring)
    }

    @Test func aFailureAlwaysHasItsObject() throws {
        let text = WCSServerMessage.fail(FailureEvent(method: .registration, info: FailureReason.authenticationFailed)).text
        let expected = #"""
            {"message":"fail","data":[{"apiMethod":"RegistrationStatusEvent","status":"FAILED","info":"AUTHENTICATION_FAIL"}]}
            """#
        #expect(try json(text) == json(expected))
    }

    @Test func everyMessageSurvivesPrintingAndReadingAndHoldsNoNull() throws {
        var full = call
        full.info = CallInfo.normalClearing
        full.parentCallID = "p"
        full.inviteParameters = ["a": "b"]
        let stream = StreamRequest(mediaSessionID: "m", name: "n")
        let messages: [WCSServerMessage] = [
            .ping, .pong, .getVersion("5.2.0"), .getUserData(ConnectionInfo(echoing: ConnectionRequest(), authToken: "t")),
            .registered(sipMessageRaw: "SIP/2.0 200 OK\r\n"), .notifyTryingResponse(full), .notifyIncomingCall(full),
            .ring(full), .talk(full), .hold(full), .finish(full),
            .setRemoteSDP(callID: "c", sdp: "v=0\r\n", isInitiator: false),
            .fail(FailureEvent(method: .call, id: "c", info: "x")),
            .onDataEvent(operationID: "o", payload: .object(["a": .number(1.5)])),
            .dataStatusEvent(DataStatusEvent(operationID: "o", isAccepted: false, info: "no")),
            .notifyTransferEvent(TransferEvent(callID: "c", status: .completed, target: "2")),
            .notifyStreamStatusEvent(stream, info: "x"), .availableStream(mediaSessionID: "m", info: "Stream not found"),
            .notifyBugReport("file"), .notifySessionDebugEvent(status: "STARTED"), .unknown(name: "other"),
        ]
        for message in messages {
            #expect(try WCSServerMessage.parse(message.text) == message)
            #expect(!message.text.contains("null"))
        }
    }
}
