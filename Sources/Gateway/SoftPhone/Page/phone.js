// The page: joins the protocol, the calls and the sounds to what is seen and pressed.

import { Call, audioConstraints } from "/call.js";
import { Meter, Recorder, Ringer, beepBusy, beepKey } from "/sound.js";
import { WCSClient } from "/wcs.js";
import { demoNumbers, duration, endWords, microphoneWords, refusalWords, stateWords } from "/words.js";

const $ = (id) => document.getElementById(id);
const client = new WCSClient(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/`);
const ringer = new Ringer();
const recorder = new Recorder();
const meters = { mic: new Meter(), ear: new Meter() };
const levels = { mic: -100, ear: -100 };
/// Descriptions of calls that are not announced yet: the offer comes before the call.
const earlyOffers = new Map();
let active = null;
let incoming = null;

// Signing in

const form = $("sign-in");
const saved = "trunkline.account";

function mode() { return form.elements.mode.value; }

function showMode() {
  $("sip-fields").hidden = mode() !== "sip";
  $("demo-words").hidden = mode() === "sip";
  $("password-words").hidden = mode() !== "sip";
}

function restoreForm() {
  try {
    const account = JSON.parse(localStorage.getItem(saved) ?? "null");
    for (const key of ["login", "domain", "proxy", "port", "authName"]) form.elements[key].value = account?.[key] ?? "";
    form.elements.register.checked = account?.register ?? true;
    form.elements.mode.value = account?.mode === "sip" ? "sip" : "demo";
  } catch {
    // A private window may have no storage; the form then starts empty.
  }
  showMode();
}

function readForm() {
  const account = { mode: mode(), register: form.elements.register.checked };
  for (const key of ["login", "domain", "proxy", "port", "authName"]) account[key] = form.elements[key].value.trim();
  return account;
}

function signIn(event) {
  event.preventDefault();
  const account = readForm();
  if (account.mode === "sip") {
    for (const key of ["login", "domain"]) {
      form.elements[key].setAttribute("aria-invalid", String(!account[key]));
      if (!account[key]) {
        form.elements[key].focus();
        return notify(`Please enter the ${key}.`);
      }
    }
    if (account.port && !(Number(account.port) > 0 && Number(account.port) < 65536)) {
      form.elements.port.focus();
      return notify("The port is a number from 1 to 65535.");
    }
  }
  notify("");
  try {
    localStorage.setItem(saved, JSON.stringify(account));
  } catch {
    // As above.
  }
  connect(account.mode === "sip" ? { ...account, password: form.elements.password.value } : null);
}

function connect(account) {
  client.connect(account);
  note("connect", account ? account.login : "demo");
}

function signOut() {
  for (const call of [active, incoming]) call?.hangUp();
  client.disconnect();
}

// Messages

function notify(words) {
  $("notice").hidden = !words;
  $("notice-words").textContent = words;
  if (words) note("notice", words);
}

client.addEventListener("state", ({ detail }) => {
  note("connection", detail.state);
  if (detail.state === "waiting" || detail.state === "off") {
    for (const call of [active, incoming]) call?.end("FAILED", "The connection to the gateway is lost");
  }
  showConnection();
});

client.addEventListener("refused", ({ detail }) => notify(refusalWords(detail.method, detail.reason)));
client.addEventListener("sent", ({ detail }) => {
  if (detail.name !== "pong") logMessage("→", detail.name, detail.argument?.callee ?? detail.argument?.dtmf ?? "");
});
client.addEventListener("message", ({ detail }) => {
  receive(detail.name, detail.data);
  const object = detail.data[0];
  logMessage("←", detail.name, object?.status ?? "");
  note("message", detail.name);
});

function receive(name, data) {
  switch (name) {
    case "setRemoteSDP": return receiveDescription(data[0], data[1]);
    case "notifyIncomingCall": return receiveIncoming(data[0]);
    case "notifyTryingResponse": case "ring": case "talk": case "hold": case "finish":
      earlyOffers.delete(data[0]?.callId);
      return findCall(data[0]?.callId)?.receivedEvent(data[0]);
    case "registered": return showConnection();
    case "fail":
      if (data[0]?.apiMethod === "CallStatusEvent" || data[0]?.apiMethod === "ErrorStatusEvent") notify(`The gateway says: ${data[0].info}`);
  }
}

function findCall(id) {
  return [active, incoming].find((call) => call?.id === id);
}

function receiveDescription(id, sdp) {
  const call = findCall(id);
  if (!call) return earlyOffers.set(id, sdp);
  call.receivedDescription(sdp).catch((error) => {
    note("error", String(error));
    client.send("hangup", { callId: id });
    call.end("FAILED", "The gateway's answer cannot be used");
  });
}

function receiveIncoming(object) {
  const offer = earlyOffers.get(object.callId);
  earlyOffers.delete(object.callId);
  const call = new Call(client, { id: object.callId, incoming: true, party: object.caller, name: object.visibleName, offer });
  // Only one may ring at a time; the next is refused at once.
  if (incoming || !offer) {
    client.send("hangup", { callId: object.callId });
    return;
  }
  incoming = call;
  watch(call);
  show();
  $("phone").scrollIntoView({ block: "nearest" });
}

// Calls

function watch(call) {
  call.addEventListener("change", () => {
    if (call.isOver) ended(call);
    show();
  });
  note("call", `${call.incoming ? "from" : "to"} ${call.party}`);
}

function startCall(number) {
  const party = number.trim();
  if (!party || client.state !== "on") return;
  if (active) return notify("Hang up first, then call again.");
  notify("");
  active = new Call(client, { party });
  watch(active);
  $("number").value = "";
  show();
  $("phone").scrollIntoView({ block: "nearest" });
  run(active, active.start());
}

function answerCall() {
  const call = incoming;
  if (!call) return;
  active?.hangUp();
  incoming = null;
  active = call;
  notify("");
  run(call, call.answer());
  show();
}

function run(call, work) {
  work.catch((error) => {
    note("error", String(error));
    if (call.isOver) return;
    notify(error instanceof DOMException ? microphoneWords(error) : `The call could not be started: ${error.message}`);
    if (call.incoming) client.send("hangup", { callId: call.id });
    call.end("FAILED", "The microphone is not available");
  });
}

let lastEnded = null;

function ended(call) {
  if (call !== active && call !== incoming) return;
  if (call === active) active = null;
  if (call === incoming) incoming = null;
  lastEnded = endWords(call);
  note("ended", `${call.status} ${call.sipStatus} ${call.info}`.trim());
  if (lastEnded.isBad && !call.incoming) beepBusy();
}

function pressKey(key) {
  if (active?.isTalking || active?.status === "RING_MEDIA") {
    active.sendKey(key);
    beepKey(key);
  } else if (!active) {
    const field = $("number");
    field.value += key;
    beepKey(key);
    show();
  }
  const button = document.querySelector(`.pad [data-key="${CSS.escape(key)}"]`);
  button?.classList.add("down");
  setTimeout(() => button?.classList.remove("down"), 130);
}

// What is seen

function showConnection() {
  const { state, session, registered } = client;
  const wait = Math.max(0, Math.ceil((client.retryAt - performance.now()) / 1000));
  // A demo session may have no name of its own.
  const name = session?.sipLogin || "demo";
  const words = {
    off: "Not connected",
    connecting: "Connecting…",
    waiting: wait > 0 ? `Connection lost, trying again in ${wait} s` : "Connection lost, trying again…",
    on: session?.sipRegisterRequired && !registered ? `Registering ${name}…` : `Connected as ${name}`,
  }[state];
  const isOn = state === "on" && !(session?.sipRegisterRequired && !registered);
  $("link").dataset.state = { off: "off", connecting: "wait", waiting: "lost", on: isOn ? "on" : "wait" }[state];
  if ($("link-words").textContent !== words) $("link-words").textContent = words;
  const isSignedIn = state !== "off" && (state === "on" || !$("phone").hidden);
  form.hidden = isSignedIn;
  $("phone").hidden = $("side").hidden = !isSignedIn;
  $("sign-out").hidden = state === "off";
  // With an account of one's own, calls go to that account's line, where these numbers mean nothing.
  if (state === "on") $("numbers").closest("section").hidden = Boolean(session?.sipDomain);
  $("connect").disabled = state === "connecting";
  $("connect").textContent = state === "connecting" || state === "waiting" ? "Connecting…" : "Connect";
  show();
}

function showIncoming() {
  $("incoming").hidden = !incoming;
  if (!incoming) return;
  const { name, number } = names(incoming);
  $("incoming-words").textContent = name;
  $("incoming-number").textContent = number;
  $("incoming-note").hidden = !active;
  document.title = `${name} calls – Trunkline`;
}

function show() {
  showIncoming();
  if (!incoming) document.title = active ? `${active.party} – Trunkline` : "Trunkline phone";
  $("dialler").hidden = $("idle-actions").hidden = Boolean(active);
  $("in-call").hidden = $("call-actions").hidden = !active;
  $("erase").disabled = !$("number").value;
  $("call").disabled = client.state !== "on" || !$("number").value.trim();
  for (const button of $("numbers").querySelectorAll("button")) button.disabled = client.state !== "on" || Boolean(active);
  $("last").textContent = lastEnded?.words ?? "Ready";
  $("last").classList.toggle("bad", Boolean(lastEnded?.isBad));
  showActive();
  showSounds();
}

/// Who is at the other end: the name if there is one, and then the number below it; or the number, and what it is for.
function names(call) {
  const hasName = call.name && call.name !== call.party;
  const service = client.session?.sipDomain ? "" : demoNumbers.find(([number]) => number === call.party)?.[1] ?? "";
  return { name: (hasName ? call.name : call.party) || "Unknown number", number: hasName ? call.party : service };
}

function showActive() {
  if (!active) return;
  lastEnded = null;
  const { name, number } = names(active);
  $("party").textContent = name;
  $("party-number").textContent = number;
  setText("call-state", active.muted && active.status === "ESTABLISHED" ? "In call, muted" : stateWords(active));
  $("timer").hidden = !active.establishedAt;
  $("keys-sent").textContent = active.keysSent;
  setToggle("mute", active.muted, active.muted ? "Unmute" : "Mute");
  setToggle("hold", active.isHeld, active.isHeld ? "Resume" : "Hold");
  $("hold").disabled = !active.isTalking;
}

function setText(id, words) {
  if ($(id).textContent !== words) $(id).textContent = words;
}

function setToggle(id, isOn, words) {
  $(id).setAttribute("aria-pressed", String(isOn));
  $(id).querySelector("span").textContent = words;
}

function showSounds() {
  ringer.play(incoming ? "ring" : active && !active.incoming && active.status === "RING" ? "ringback" : "");
  meters.mic.follow(active?.microphone ?? null);
  meters.ear.follow(active?.remoteStream ?? null);
  const stream = active?.remoteStream ?? null;
  if ($("ear").srcObject !== stream) {
    $("ear").srcObject = stream;
    if (stream) playEar();
  }
}

const heldBackWords = "The browser holds the sound back. Press anything on the page.";

function playEar() {
  $("ear").play().catch((error) => {
    // A call that ends at once aborts the playing too; only a browser that waits for a gesture is worth a word.
    if (error.name === "NotAllowedError" && active) notify(heldBackWords);
  });
}

for (const gesture of ["pointerup", "keyup"]) {
  addEventListener(gesture, () => {
    if ($("notice").hidden || $("notice-words").textContent !== heldBackWords) return;
    notify("");
    if (active?.remoteStream) playEar();
  });
}

function drawMeter(id, name) {
  const level = meters[name].level;
  // Quick to rise, slow to fall, as meters are.
  levels[name] = level > levels[name] ? level : Math.max(level, levels[name] - 1.5);
  const part = Math.max(0, Math.min(1, (levels[name] + 60) / 60));
  $(id).firstElementChild.style.clipPath = `inset(0 ${(100 - part * 100).toFixed(1)}% 0 0)`;
  return Math.round(Math.max(-60, levels[name]));
}

function draw() {
  if (active) {
    const mic = drawMeter("mic-meter", "mic");
    const ear = drawMeter("ear-meter", "ear");
    if (draw.count++ % 30 === 0) {
      $("mic-meter").setAttribute("aria-valuenow", mic);
      $("ear-meter").setAttribute("aria-valuenow", ear);
    }
  }
  requestAnimationFrame(draw);
}
draw.count = 0;

setInterval(() => {
  if (active?.establishedAt) setText("timer", duration(performance.now() - active.establishedAt));
  if (client.state === "waiting") showConnection();
}, 250);

function logMessage(direction, name, extra) {
  const item = document.createElement("li");
  const time = document.createElement("span");
  time.textContent = new Date().toTimeString().slice(0, 8);
  const arrow = document.createElement("span");
  arrow.textContent = direction;
  const words = document.createElement("b");
  words.textContent = `${name} ${typeof extra === "string" ? extra : ""}`.trim();
  item.append(time, arrow, words);
  $("log").prepend(item);
  while ($("log").children.length > 200) $("log").lastElementChild.remove();
}

// What is pressed

const letters = { 2: "ABC", 3: "DEF", 4: "GHI", 5: "JKL", 6: "MNO", 7: "PQRS", 8: "TUV", 9: "WXYZ", 0: "+" };
for (const key of "123456789*0#") {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.key = key;
  button.setAttribute("aria-label", { "*": "Star", "#": "Pound" }[key] ?? key);
  const digit = document.createElement("b");
  digit.textContent = key;
  const small = document.createElement("small");
  small.textContent = letters[key] ?? "";
  button.append(digit, small);
  button.addEventListener("click", () => pressKey(key));
  $("pad").append(button);
}

for (const [number, title, words] of demoNumbers) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.setAttribute("aria-label", `Call ${number}, ${title}: ${words}`);
  for (const [tag, text] of [["b", number], ["span", title], ["small", words]]) {
    const part = document.createElement(tag);
    part.textContent = text;
    button.append(part);
  }
  button.addEventListener("click", () => startCall(number));
  item.append(button);
  $("numbers").append(item);
}

form.addEventListener("submit", signIn);
form.addEventListener("change", showMode);
$("sign-out").addEventListener("click", signOut);
$("notice-close").addEventListener("click", () => notify(""));
$("number").addEventListener("input", show);
$("erase").addEventListener("click", () => {
  $("number").value = $("number").value.slice(0, -1);
  show();
});
$("call").addEventListener("click", () => startCall($("number").value));
$("hang-up").addEventListener("click", () => active?.hangUp());
$("mute").addEventListener("click", () => active?.setMuted(!active.muted));
$("hold").addEventListener("click", () => active?.setHeld(!active.isHeld));
$("answer").addEventListener("click", answerCall);
$("reject").addEventListener("click", () => incoming?.hangUp());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("phone").hidden) return;
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === "Escape") {
    if (incoming) incoming.hangUp();
    else active?.hangUp();
  } else if (event.key === "Enter" && (isTyping || event.target === document.body)) {
    event.preventDefault();
    if (incoming) answerCall();
    else if (!active) startCall($("number").value);
  } else if (!isTyping && /^[0-9*#]$/.test(event.key)) {
    pressKey(event.key);
  } else if (!isTyping && event.key === "Backspace" && !active) {
    $("erase").click();
  } else if (!isTyping && event.key.toLowerCase() === "m") {
    active?.setMuted(!active.muted);
  } else if (!isTyping && event.key.toLowerCase() === "h") {
    active?.setHeld(!active.isHeld);
  }
});

addEventListener("beforeunload", (event) => {
  if (active) event.preventDefault();
});
addEventListener("pagehide", () => {
  for (const call of [active, incoming]) if (call) client.send("hangup", { callId: call.id });
});

// For automated tests and the console

const events = [];
const waiters = new Set();

function note(type, detail) {
  events.push({ time: Math.round(performance.now()), type, detail });
  if (events.length > 1000) events.shift();
  for (const waiter of waiters) waiter();
}

function describe(call) {
  return call && {
    id: call.id, incoming: call.incoming, party: call.party, name: call.name, status: call.status, sipStatus: call.sipStatus,
    info: call.info, muted: call.muted, held: call.isHeld, media: call.mediaState, hasSound: Boolean(call.remoteStream),
    seconds: call.establishedAt ? (performance.now() - call.establishedAt) / 1000 : 0,
  };
}

window.trunkline = {
  /// A snapshot of everything.
  get state() {
    return {
      connection: client.state, session: client.session, registered: client.registered, call: describe(active),
      incoming: describe(incoming), ended: lastEnded, notice: $("notice").hidden ? "" : $("notice-words").textContent,
      ringing: ringer.kind, levels: { mic: meters.mic.level, ear: meters.ear.level },
    };
  },
  events,
  audioConstraints,
  connect,
  disconnect: signOut,
  call: startCall,
  answer: answerCall,
  reject: () => incoming?.hangUp(),
  hangUp: () => active?.hangUp(),
  hold: () => active?.setHeld(true),
  resume: () => active?.setHeld(false),
  mute: (muted = true) => active?.setMuted(muted),
  sendKeys: (keys) => [...keys].forEach(pressKey),
  statistics: async () => (await active?.statistics()) ?? [],
  /// Resolves with the state as soon as `test(state)` is true, rejects after `limit` milliseconds.
  waitFor(test, limit = 15000) {
    return new Promise((resolve, reject) => {
      const check = () => {
        const state = window.trunkline.state;
        if (!test(state)) return;
        stop();
        resolve(state);
      };
      const stop = () => {
        waiters.delete(check);
        clearInterval(poll);
        clearTimeout(timer);
      };
      const poll = setInterval(check, 50);
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`not reached: ${test}; ${JSON.stringify(window.trunkline.state)}`));
      }, limit);
      waiters.add(check);
      check();
    });
  },
  /// Records what is heard, 16-bit PCM at 16 kHz; call it when the call has sound.
  startRecording: () => (active?.remoteStream ? recorder.start(active.remoteStream) : Promise.reject(new Error("no sound yet"))),
  /// Ends the recording; resolves with its bytes (little endian) in base64.
  stopRecording: () => recorder.stop(),
};

restoreForm();
showConnection();
requestAnimationFrame(draw);
const query = new URLSearchParams(location.search);
if (query.has("demo")) {
  connect(null);
  // "?demo=101" calls at once.
  if (query.get("demo")) window.trunkline.waitFor((state) => state.connection === "on").then(() => startCall(query.get("demo")));
}
