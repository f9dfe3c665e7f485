// What people read: states, reasons and numbers.

export const demoNumbers = [
  ["100", "Echo", "Hear yourself, and how long it takes"],
  ["101", "Speech", "A recorded voice"],
  ["102", "Music", "A tune, until you hang up"],
  ["103", "Keys", "Press keys, and they are read back"],
  ["104", "Busy", "Refuses with a busy tone"],
  ["105", "No answer", "Rings until you give up"],
  ["106", "Early media", "Speaks before it answers"],
  ["107", "Call me back", "Hangs up, then this phone rings"],
];

const states = {
  NEW: "Ringing…", PENDING: "Getting ready…", TRYING: "Calling…", RING: "Ringing…", RING_MEDIA: "Ringing, sound before the answer",
  SESSION_PROGRESS: "Ringing…", ESTABLISHED: "In call", HOLD: "On hold",
};

/// A call's state in words.
export function stateWords(call) {
  if (call.incoming && (call.status === "NEW" || call.status === "RING")) return "Calls you";
  if (call.incoming && call.status === "PENDING") return "Answering…";
  return states[call.status] ?? call.status;
}

const sipReasons = {
  403: "This call is not allowed", 404: "This number does not exist", 408: "Nobody answered", 410: "This number is out of service",
  415: "The far side understands none of our codecs", 480: "Nobody is there right now", 484: "The number is incomplete",
  486: "Busy: the other side is in another call", 487: "The call was cancelled", 488: "The far side understands none of our codecs",
  503: "The telephone line is overloaded or down", 600: "Busy everywhere", 603: "The other side declined", 604: "This number does not exist",
};

const infoReasons = {
  "Failed by ICE error": "No way for the sound was found", "Failed by RTP activity": "No sound came from the far side any more",
  "Failed by DTLS error": "The encryption could not be set up", "Failed by DTLS fingerprint error": "The encryption key is not the announced one",
  "No common codecs": "The far side understands none of our codecs", "Failed by request timeout": "The telephone line does not answer",
};

/// How a call ended, in words; `isBad` if it was not an ordinary end.
export function endWords(call) {
  if (call.status === "BUSY") return { words: sipReasons[486], isBad: true };
  if (call.status === "FAILED") {
    const words = infoReasons[call.info] ?? sipReasons[call.sipStatus] ?? (call.info || "The call failed");
    return { words: call.sipStatus >= 300 && !words.includes(call.sipStatus) ? `${words} (${call.sipStatus})` : words, isBad: true };
  }
  const talked = call.establishedAt ? call.endedAt - call.establishedAt : 0;
  if (talked >= 1000) return { words: `Call ended after ${duration(talked)}`, isBad: false };
  if (call.establishedAt) return { words: "Call ended", isBad: false };
  if (call.sipStatus === 408 || call.sipStatus === 480) return { words: call.incoming ? "Missed call" : "Nobody answered", isBad: false };
  if (call.incoming) return { words: call.hungUpHere ? "Call rejected" : "Missed call", isBad: false };
  return { words: "Call ended", isBad: false };
}

export function duration(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (number) => String(number).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}:${two(seconds % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/// Why the browser gave no microphone.
export function microphoneWords(error) {
  switch (error?.name) {
    case "NotAllowedError": return "The microphone is blocked. Allow it for this page (next to the address), then call again.";
    case "NotFoundError": return "No microphone was found. Plug one in, then call again.";
    case "NotReadableError": return "The microphone is in use by another program.";
    case "SecurityError": return "Browsers give the microphone only to pages over https or on this very machine.";
    default: return `The call could not be started: ${error?.message ?? error}`;
  }
}

/// Why the gateway refused the session.
export function refusalWords(method, reason) {
  const known = {
    AUTHENTICATION_FAIL: "The SIP server does not accept this login and password.", USER_NOT_AVAILABLE: "The SIP server does not know this login.",
    REGISTER_EXPIRE: "The SIP server does not answer. Check domain, proxy and port.", WRONG_SIPPROVIDER_ADDRESS: "The SIP server's address cannot be used. Check domain, proxy and port.",
    TOO_MANY_REGISTER_ATTEMPTS: "Too many attempts. Wait a little, then try again.", REST_AUTHORIZATION_FAIL: "This gateway does not admit this application.",
    CONNECTION_ERROR: "The gateway takes no more clients right now.",
  }[reason];
  if (known) return known;
  return method === "RegistrationStatusEvent" ? `The registration failed: ${reason}` : `The gateway refused the connection: ${reason}`;
}
