// The WCS conversation over one WebSocket: envelopes, keep-alive, reconnection. It knows nothing of media or of the page.

/// Events: "state" (off, connecting, on, waiting), "message" {name, data}, "sent" {name}, "refused" {reason}.
export class WCSClient extends EventTarget {
  state = "off";
  session = null;
  registered = false;
  #socket = null;
  #request = null;
  #attempt = 0;
  #retry = null;
  #watch = null;
  #lastPing = 0;
  #pingGap = 0;

  constructor(url) {
    super();
    this.url = url;
  }

  /// Signs in. `account` is null for the demo, else {login, password, domain, proxy, port, authName, register}.
  connect(account) {
    this.disconnect();
    this.#request = connectionRequest(account);
    this.#attempt = 0;
    this.#open();
  }

  /// Signs out, as the SDKs do: the socket is closed without a code.
  disconnect() {
    this.#request = null;
    clearTimeout(this.#retry);
    this.#drop();
    this.#enter("off");
  }

  /// Sends one message; answers whether the socket took it.
  send(name, argument = null) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#tell("sent", { name, argument });
    this.#socket.send(JSON.stringify({ message: name, data: [argument] }));
    return true;
  }

  #open() {
    this.#enter("connecting");
    const socket = new WebSocket(this.url);
    this.#socket = socket;
    this.#lastPing = 0;
    this.#pingGap = 0;
    socket.onopen = () => this.send("connection", this.#request);
    socket.onmessage = (event) => {
      if (socket === this.#socket && typeof event.data === "string") this.#receive(event.data);
    };
    socket.onclose = (event) => {
      if (socket === this.#socket) this.#lost(event);
    };
    clearInterval(this.#watch);
    this.#watch = setInterval(() => this.#checkPings(), 1000);
  }

  #receive(text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    const name = message.message;
    const data = Array.isArray(message.data) ? message.data : [];
    if (name === "ping") {
      const now = performance.now();
      if (this.#lastPing) this.#pingGap = Math.max(this.#pingGap, now - this.#lastPing);
      this.#lastPing = now;
      this.send("pong");
      return;
    }
    if (name === "getUserData") {
      this.session = data[0] ?? {};
      this.#attempt = 0;
      this.#enter("on");
    } else if (name === "registered") {
      this.registered = true;
    } else if (name === "fail") {
      this.#failed(data[0] ?? {});
    }
    this.#tell("message", { name, data });
  }

  // A refusal of the session or of its registration is final; trying again would only repeat it.
  #failed(failure) {
    if (failure.apiMethod === "RegistrationStatusEvent") this.registered = false;
    const isFinal = failure.apiMethod === "ConnectionStatusEvent" || failure.apiMethod === "RegistrationStatusEvent";
    if (isFinal) this.#tell("refused", { method: failure.apiMethod, reason: failure.info ?? "" });
    if (failure.apiMethod === "ConnectionStatusEvent") this.#request = null;
    if (failure.apiMethod === "RegistrationStatusEvent") this.refusedAt = performance.now();
  }

  #lost() {
    this.#drop();
    const refusedJustNow = this.refusedAt !== undefined && performance.now() - this.refusedAt < 5000;
    if (!this.#request || refusedJustNow) {
      this.#request = null;
      this.refusedAt = undefined;
      this.#enter("off");
      return;
    }
    const seconds = Math.min(15, 2 ** this.#attempt);
    this.#attempt += 1;
    this.retryAt = performance.now() + seconds * 1000;
    this.#enter("waiting");
    this.#retry = setTimeout(() => this.#open(), seconds * 1000);
  }

  // Pings come regularly; when they have stopped for several gaps, the path is dead although TCP has not noticed.
  #checkPings() {
    if (!this.#lastPing || !this.#pingGap) return;
    if (performance.now() - this.#lastPing > 3 * this.#pingGap + 5000) this.#lost();
  }

  #drop() {
    clearInterval(this.#watch);
    const socket = this.#socket;
    this.#socket = null;
    this.session = null;
    this.registered = false;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
  }

  #enter(state) {
    if (this.state === state && state !== "waiting") return;
    this.state = state;
    this.#tell("state", { state });
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

function connectionRequest(account) {
  const request = {
    appKey: "defaultApp",
    mediaProviders: ["WebRTC"],
    keepAlive: false,
    clientVersion: "2.0",
    clientOSVersion: navigator.appVersion,
    clientBrowserVersion: navigator.userAgent,
  };
  if (!account) return request;
  return {
    ...request,
    sipLogin: account.login,
    sipAuthenticationName: account.authName || account.login,
    sipPassword: account.password,
    sipDomain: account.domain,
    sipOutboundProxy: account.proxy || account.domain,
    sipPort: account.port || "5060",
    sipRegisterRequired: account.register,
  };
}
