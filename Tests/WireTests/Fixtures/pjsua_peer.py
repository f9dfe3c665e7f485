"""A SIP telephone for the wire tests: PJSIP, driven by JSON lines.

Descriptor 3 takes one command a line, {"id": 1, "do": "call", ...}; descriptor 4 answers each with {"reply": 1, ...} or
{"reply": 1, "error": "..."} and tells events, {"event": "incoming", "call": 0, ...}. The end of descriptor 3 ends the
telephone. What goes to standard output is for people.
"""

import argparse
import json
import math
import os
import re
import select
import struct
import tempfile
import time
import wave

import pjsua2 as pj

RATE = 8000

LOOPBACK = "127.0.0.1"  # this build of PJSIP has no IPv6
COMMANDS = 3
ANSWERS = os.fdopen(4, "w", buffering=1)


def tell(**message):
    ANSWERS.write(json.dumps(message) + "\n")


class Line(pj.Call):
    """One call: what it plays and records survives hold, resume and every other change of its media."""

    def __init__(self, phone, account, call_id=pj.PJSUA_INVALID_ID):
        super().__init__(account, call_id)
        self.phone = phone
        self.source = None
        self.recorder = None
        self.recording = None
        self.echoes = False

    def audio(self):
        if self.getId() == pj.PJSUA_INVALID_ID:  # PJSIP ends the process over questions about a call not yet made
            return None
        try:
            return self.getAudioMedia(-1)
        except pj.Error:
            return None

    def onCallState(self, prm):
        info = self.getInfo()
        if info.state == pj.PJSIP_INV_STATE_DISCONNECTED:
            self.source = None
            self.finish_recording()
            self.phone.ended.append(info.id)
        tell(event="call", call=info.id, state=info.stateText, status=info.lastStatusCode, reason=info.lastReason)

    def onCallMediaState(self, prm):
        info = self.getInfo()  # kept by name: what hangs on it is freed with it
        statuses = [m.status for m in info.media if m.type == pj.PJMEDIA_TYPE_AUDIO]
        names = {
            pj.PJSUA_CALL_MEDIA_NONE: "none",
            pj.PJSUA_CALL_MEDIA_ACTIVE: "active",
            pj.PJSUA_CALL_MEDIA_LOCAL_HOLD: "local-hold",
            pj.PJSUA_CALL_MEDIA_REMOTE_HOLD: "remote-hold",
            pj.PJSUA_CALL_MEDIA_ERROR: "error",
        }
        status = statuses[0] if statuses else pj.PJSUA_CALL_MEDIA_NONE
        self.connect()
        tell(event="media", call=self.getId(), state=names.get(status, str(status)), codec=self.codec())

    def onDtmfDigit(self, prm):
        method = "info" if prm.method == pj.PJSUA_DTMF_METHOD_SIP_INFO else "rtp"
        tell(event="dtmf", call=self.getId(), digit=prm.digit, method=method, duration=prm.duration)

    def codec(self):
        try:
            return self.getStreamInfo(0).codecName
        except pj.Error:
            return ""

    def connect(self):
        audio = self.audio()
        if audio is None:
            return
        if self.source is not None:
            self.source.startTransmit(audio)
        if self.recorder is not None:
            audio.startTransmit(self.recorder)
        if self.echoes:
            audio.startTransmit(audio)

    def play(self, file, loop):
        if self.source is not None and self.audio() is not None:
            self.source.stopTransmit(self.audio())
        self.source = pj.AudioMediaPlayer()
        self.source.createPlayer(file, 0 if loop else pj.PJMEDIA_FILE_NO_LOOP)
        self.connect()

    def be_silent(self):
        if self.source is not None and self.audio() is not None:
            self.source.stopTransmit(self.audio())
        self.source = None

    def record(self, file):
        self.recording = file
        self.recorder = pj.AudioMediaRecorder()
        self.recorder.createRecorder(file)
        self.connect()

    def stop_recording(self):
        if self.recorder is not None and self.audio() is not None:
            self.audio().stopTransmit(self.recorder)
        self.finish_recording()

    def finish_recording(self):
        """PJSIP's media thread writes the file's length a little later: nobody is told of an end before that."""
        if self.recorder is None:
            return
        self.recorder = None
        for _ in range(100):
            with open(self.recording, "rb") as file:
                if any(file.read(44)[40:]):
                    return
            time.sleep(0.01)


class Account(pj.Account):
    def __init__(self, phone):
        super().__init__()
        self.phone = phone

    def onRegState(self, prm):
        tell(event="registration", status=prm.code, reason=prm.reason, expires=prm.expiration, active=self.getInfo().regIsActive)

    def onIncomingCall(self, prm):
        line = Line(self.phone, self, prm.callId)
        self.phone.lines[prm.callId] = line
        info = line.getInfo()
        invite = prm.rdata.wholeMsg
        tell(event="incoming", call=prm.callId, remote=info.remoteUri, local=info.localUri, invite=invite)
        way = self.phone.on_incoming
        if way is not None:
            self.phone.prepare(line, way)
            for status in way.get("statuses", [200]):
                self.phone.respond(line, status)


class Phone:
    def __init__(self, options):
        self.options = options
        self.lines = {}
        self.ended = []
        self.on_incoming = None
        self.account = None
        self.tones = {}
        self.folder = tempfile.TemporaryDirectory()

        self.endpoint = pj.Endpoint()
        self.endpoint.libCreate()
        config = pj.EpConfig()
        config.uaConfig.threadCnt = 0
        config.uaConfig.mainThreadOnly = True
        config.uaConfig.maxCalls = 32
        config.uaConfig.userAgent = "pjsua-peer"
        config.logConfig.level = options.log_level
        config.logConfig.consoleLevel = 0
        config.logConfig.filename = options.log or ""
        config.medConfig.clockRate = RATE
        config.medConfig.sndClockRate = RATE
        config.medConfig.ecTailLen = 0
        config.medConfig.noVad = True
        config.medConfig.sndAutoCloseTime = -1
        config.medConfig.quality = 10
        self.endpoint.libInit(config)
        transport = pj.TransportConfig()
        transport.boundAddress = LOOPBACK
        transport.port = options.port
        kinds = {"udp": pj.PJSIP_TRANSPORT_UDP, "tcp": pj.PJSIP_TRANSPORT_TCP}
        number = self.endpoint.transportCreate(kinds[options.transport], transport)
        self.endpoint.libStart()
        self.endpoint.audDevManager().setNullDev()
        for codec in self.endpoint.codecEnum2():
            wanted = [w.lower() for w in options.codec]
            name = codec.codecId.split("/")[0].lower()
            priority = 255 - wanted.index(name) if name in wanted else 0
            self.endpoint.codecSetPriority(codec.codecId, priority)
        self.local = self.endpoint.transportGetInfo(number).localName
        self.open_account({})
        tell(event="ready", address=self.local)

    def open_account(self, command):
        suffix = ";transport=tcp" if self.options.transport == "tcp" else ""
        user = command.get("user", self.options.name)
        config = pj.AccountConfig()
        config.idUri = command.get("uri", f"sip:{user}@{self.local}{suffix}")
        config.callConfig.timerUse = pj.PJSUA_SIP_TIMER_INACTIVE
        config.mediaConfig.transportConfig.boundAddress = LOOPBACK
        config.mediaConfig.transportConfig.port = self.options.rtp_port
        config.mediaConfig.streamKaEnabled = False
        config.natConfig.contactRewriteUse = 0
        config.natConfig.viaRewriteUse = 0
        config.natConfig.sdpNatRewriteUse = 0
        if "registrar" in command:
            config.regConfig.registrarUri = command["registrar"]
            config.regConfig.registerOnAdd = True
            config.regConfig.timeoutSec = command.get("expires", 300)
            config.regConfig.retryIntervalSec = 0
        if "password" in command:
            credentials = pj.AuthCredInfo("digest", "*", command.get("login", user), 0, command["password"])
            config.sipConfig.authCreds.append(credentials)
        for proxy in command.get("proxies", []):
            config.sipConfig.proxies.append(proxy)
        if self.account is not None:
            self.account.shutdown()
        self.account = Account(self)
        self.account.create(config, True)

    def line(self, command):
        line = self.lines.get(command["call"])
        if line is None:
            raise KeyError(f"no call {command['call']}")
        return line

    def tone(self, hertz, level):
        """A minute of a tone of whole hertz: PJSIP's player leaves 20 ms of silence where a file loops. Level is RMS in dB."""
        name = os.path.join(self.folder.name, f"{hertz}_{level}.wav")
        if not os.path.exists(name):
            peak = 32768 * math.sqrt(2) * 10 ** (level / 20)
            samples = [round(peak * math.sin(2 * math.pi * hertz * n / RATE)) for n in range(RATE)]
            with wave.open(name, "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(RATE)
                file.writeframes(60 * struct.pack(f"<{RATE}h", *[max(-32768, min(32767, s)) for s in samples]))
        return name

    def prepare(self, line, command):
        if command.get("tone"):
            line.play(self.tone(int(command["tone"]), command.get("level", -15)), True)
        elif command.get("play"):
            line.play(command["play"], command.get("loop", False))
        if command.get("record"):
            line.record(command["record"])
        line.echoes = bool(command.get("echo", line.echoes))

    def respond(self, line, status, reason=""):
        operation = pj.CallOpParam()
        operation.statusCode = status
        operation.reason = reason
        line.answer(operation)

    def do(self, command):
        verb = command["do"]
        if verb == "account":
            self.open_account(command)
        elif verb == "unregister":
            self.account.setRegistration(False)
        elif verb == "call":
            line = Line(self, self.account)
            self.prepare(line, command)
            operation = pj.CallOpParam(True)
            for name, value in command.get("headers", {}).items():
                header = pj.SipHeader()
                header.hName, header.hValue = name, value
                operation.txOption.headers.append(header)
            line.makeCall(command["to"], operation)
            self.lines[line.getId()] = line
            return {"call": line.getId()}
        elif verb == "on-incoming":
            self.on_incoming = command.get("way")
        elif verb == "respond":
            line = self.line(command)
            self.prepare(line, command)
            self.respond(line, command.get("status", 200), command.get("reason", ""))
        elif verb == "sound":
            line = self.line(command)
            self.prepare(line, command)
            line.connect()
        elif verb == "silence":
            self.line(command).be_silent()
        elif verb == "stop-recording":
            self.line(command).stop_recording()
        elif verb == "dtmf":
            digits = pj.CallSendDtmfParam()
            digits.digits = command["digits"]
            digits.duration = command.get("duration", 120)
            info = command.get("method", "rtp") == "info"
            digits.method = pj.PJSUA_DTMF_METHOD_SIP_INFO if info else pj.PJSUA_DTMF_METHOD_RFC2833
            self.line(command).sendDtmf(digits)
        elif verb == "hold":
            self.line(command).setHold(pj.CallOpParam(True))
        elif verb == "resume":
            operation = pj.CallOpParam(True)
            operation.opt.flag = pj.PJSUA_CALL_UNHOLD
            self.line(command).reinvite(operation)
        elif verb == "hang-up":
            operation = pj.CallOpParam()
            operation.statusCode = command.get("status", 0)
            self.line(command).hangup(operation)
        elif verb == "statistics":
            return self.statistics(self.line(command))
        else:
            raise KeyError(f"no such command: {verb}")
        return {}

    def statistics(self, line):
        statistics = line.getStreamStat(0)  # kept by name: what hangs on it is freed with it
        rtcp = statistics.rtcp
        return {
            "sent": rtcp.txStat.pkt,
            "received": rtcp.rxStat.pkt,
            "lost": rtcp.rxStat.loss,
            "reordered": rtcp.rxStat.reorder,
            "duplicated": rtcp.rxStat.dup,
            "jitterMicroseconds": rtcp.rxStat.jitterUsec.last,
            "roundTripMicroseconds": rtcp.rttUsec.last,
            "codec": line.codec(),
        }

    def run(self):
        os.set_blocking(COMMANDS, False)
        rest = b""
        while True:
            self.endpoint.libHandleEvents(5)
            for ended in self.ended:
                self.lines.pop(ended, None)
            self.ended.clear()
            if not select.select([COMMANDS], [], [], 0)[0]:
                continue
            chunk = os.read(COMMANDS, 65536)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            for text in lines:
                self.take(text)

    def take(self, text):
        command = {}
        try:
            command = json.loads(text)
            answer = self.do(command)
            tell(reply=command.get("id"), **answer)
        except Exception as error:  # told to the test, which knows what it asked for
            words = error.info() if isinstance(error, pj.Error) else repr(error)
            tell(reply=command.get("id"), error=re.sub(r"\s+", " ", words))

    def end(self):
        for line in list(self.lines.values()):
            line.source = line.recorder = None
        self.endpoint.hangupAllCalls()
        for _ in range(20):
            self.endpoint.libHandleEvents(10)
        self.folder.cleanup()
        os._exit(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="peer")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--rtp-port", type=int, default=0)
    parser.add_argument("--transport", choices=["udp", "tcp"], default="udp")
    parser.add_argument("--codec", action="append", default=[])
    parser.add_argument("--log")
    parser.add_argument("--log-level", type=int, default=4)
    options = parser.parse_args()
    options.codec = options.codec or ["PCMU", "PCMA"]
    phone = Phone(options)
    phone.run()
    phone.end()


main()
