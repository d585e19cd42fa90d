import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { openTunnel } from './tunnel.mjs';

/** Milliseconds until a server must have answered. */
const patience = 20_000;

/** Opens a session at an SMTP server: signs in if the address has a user, and never without TLS. */
export async function openMail(address) {
  const url = URL.parse(address);
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    throw new Error(
      'SMTP_URL is not an address such as smtps://user:password@smtp.example.com:465',
    );
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = url.protocol === 'smtps:';
  const raw = await openTunnel(host, Number(url.port || (isSecure ? 465 : 587)));
  let talk = new Talk(isSecure ? await secure(raw, host) : raw);
  try {
    await talk.expect(220);
    let offered = await talk.ask('EHLO holdpoint', 250);
    if (!isSecure && /^STARTTLS$/im.test(offered)) {
      await talk.ask('STARTTLS', 220);
      talk = new Talk(await secure(talk.release(), host));
      offered = await talk.ask('EHLO holdpoint', 250);
    }
    if (url.username !== '') {
      if (!talk.isSecure)
        throw new Error('the mail server offers no TLS, so nobody signs in there');
      const parts = ['', decodeURIComponent(url.username), decodeURIComponent(url.password)];
      await talk.ask(`AUTH PLAIN ${Buffer.from(parts.join('\0')).toString('base64')}`, 235);
    }
  } catch (error) {
    talk.end();
    throw error;
  }
  return {
    async send(from, to, message) {
      try {
        await talk.ask(`MAIL FROM:<${from}>`, 250);
        for (const one of to) await talk.ask(`RCPT TO:<${one}>`, 250);
        await talk.ask('DATA', 354);
        await talk.ask(`${message.replaceAll(/^\./gm, '..')}.`, 250);
        await talk.ask('QUIT', 221).catch(() => undefined);
      } finally {
        talk.end();
      }
    },
  };
}

function secure(raw, host) {
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({ socket: raw, host, ...name });
    socket.setTimeout(patience, () => socket.destroy(new Error('no answer within 20 seconds')));
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', ({ code, message }) =>
      reject(new Error(`the certificate of ${host} cannot be verified: ${code ?? message}`)),
    );
  });
}

/** A conversation of commands and answers with codes. */
class Talk {
  #socket;
  #buffer = '';
  #waiting = null;
  #failure = null;

  constructor(socket) {
    this.#socket = socket;
    socket.setTimeout(patience, () => this.#fail('the mail server did not answer in time'));
    socket.on('data', this.#read);
    socket.on('error', this.#broken);
    socket.on('close', this.#broken);
  }

  get isSecure() {
    return this.#socket.encrypted === true;
  }

  /** Sends a command and answers what the server says, which must begin with a code. */
  ask(line, code) {
    this.#socket.write(`${line}\r\n`);
    return this.expect(code);
  }

  async expect(code) {
    if (this.#failure !== null) throw this.#failure;
    const answer = await new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#look();
    });
    if (Number(answer.slice(0, 3)) !== code) {
      throw new Error(`the mail server refused it: ${answer.slice(0, 200)}`);
    }
    return answer.replaceAll(/^\d{3}[ -]/gm, '').replaceAll('\r', '');
  }

  /** Lets go of the connection, on which nothing may have come that nobody asked for. */
  release() {
    for (const [event, hear] of [
      ['data', this.#read],
      ['error', this.#broken],
      ['close', this.#broken],
    ]) {
      this.#socket.off(event, hear);
    }
    if (this.#buffer !== '') throw new Error('the mail server spoke out of turn');
    return this.#socket;
  }

  end() {
    this.#socket.destroy();
  }

  #read = (bytes) => {
    this.#buffer += bytes.toString('latin1');
    if (this.#buffer.length > 64 * 1024) this.#fail('the mail server says too much');
    this.#look();
  };

  #broken = () => this.#fail('the mail server broke off');

  #look() {
    const found = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\r?\n/.exec(this.#buffer);
    if (found === null || this.#waiting === null) return;
    const { resolve } = this.#waiting;
    this.#waiting = null;
    this.#buffer = this.#buffer.slice(found[0].length);
    resolve(found[0].trimEnd());
  }

  #fail(message) {
    this.#failure ??= new Error(message);
    this.#waiting?.reject(this.#failure);
    this.#waiting = null;
    this.#socket.destroy();
  }
}
