import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { onTestFinished, vi } from 'vitest';
import { certificate } from '../actors/outbound/egress/loopback-certificate.ts';

/** A mail that the server took. */
export interface TakenMail {
  to: string[];
  /** As sent, with its headers. */
  raw: string;
  /** True if it came over TLS. */
  isEncrypted: boolean;
}

/** The encryption that a server offers, with a certificate for `*.example.test`. */
export type SmtpSecurity = 'none' | 'starttls' | 'tls';

/** An SMTP server on 127.0.0.1 for one user. */
export class FakeSmtp {
  readonly user = 'holdpoint';
  readonly password = 'canary-smtp-password';
  readonly mails: TakenMail[] = [];
  /** Commands in the order of arrival, without what follows them; those before TLS are in lower case. */
  readonly commands: string[] = [];
  readonly #security: SmtpSecurity;
  readonly #server: Server;
  readonly #faults: [command: string, answer: string][] = [];
  readonly #silenced = new Set<string>();
  readonly #sockets = new Set<Socket>();

  private constructor(security: SmtpSecurity) {
    this.#security = security;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Starts one that is closed after the test. */
  static async start(security: SmtpSecurity = 'none'): Promise<FakeSmtp> {
    const fake = new FakeSmtp(security);
    fake.#server.listen(0, '127.0.0.1');
    await once(fake.#server, 'listening');
    onTestFinished(() => {
      for (const socket of fake.#sockets) socket.destroy();
      fake.#server.close();
    });
    return fake;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Has the next such command answered so. */
  fail(command: string, answer: string): void {
    this.#faults.push([command, answer]);
  }

  /** Has such commands answered never. */
  silence(command: string): void {
    this.#silenced.add(command);
  }

  /** Resolves once such a command has arrived over TLS. */
  async reached(command: string): Promise<void> {
    await vi.waitUntil(() => this.commands.includes(command), { timeout: 15_000, interval: 5 });
  }

  /** Resolves with the mails once there are so many. */
  async took(count: number): Promise<TakenMail[]> {
    await vi.waitUntil(() => this.mails.length >= count, { timeout: 15_000, interval: 5 });
    return this.mails;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    const served = this.#security === 'tls' ? encrypted(socket) : socket;
    this.#serve(served);
    served.write('220 fake\r\n');
  }

  #serve(socket: Socket): void {
    const isEncrypted = socket instanceof TLSSocket;
    let to: string[] = [];
    let body: string[] | null = null;
    let rest = '';
    const say = (line: string) => void socket.write(`${line}\r\n`);
    const line = (text: string) => {
      if (body !== null) {
        if (text !== '.') return void body.push(text.replace(/^\./, ''));
        this.mails.push({ to, raw: body.join('\r\n'), isEncrypted });
        [body, to] = [null, []];
        return say('250 taken');
      }
      const command = text.split(' ')[0]?.toUpperCase() ?? '';
      this.commands.push(isEncrypted ? command : command.toLowerCase());
      if (this.#silenced.has(command)) return;
      const fault = this.#faults.findIndex(([name]) => name === command);
      if (fault >= 0) return say(this.#faults.splice(fault, 1)[0]?.[1] ?? '');
      const isUpgrade = this.#security === 'starttls' && !isEncrypted;
      if (command === 'EHLO') {
        return say(`250-fake\r\n${isUpgrade ? '250-STARTTLS\r\n' : ''}250 AUTH PLAIN`);
      }
      if (command === 'STARTTLS' && !isUpgrade) return say('502 not offered');
      if (command === 'STARTTLS') {
        socket.removeAllListeners('data');
        socket.write('220 go\r\n');
        return this.#serve(encrypted(socket));
      }
      if (command === 'AUTH') {
        const given = Buffer.from(text.split(' ')[2] ?? '', 'base64').toString();
        return say(given === `\0${this.user}\0${this.password}` ? '235 in' : '535 wrong');
      }
      if (command === 'RCPT') to.push(/<(.*)>/.exec(text)?.[1] ?? '');
      if (command === 'DATA') {
        body = [];
        return say('354 go');
      }
      say(command === 'QUIT' ? '221 bye' : '250 ok');
    };
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString()).split('\r\n');
      rest = lines.pop() ?? '';
      for (const each of lines) line(each);
    });
  }
}

function encrypted(socket: Socket): TLSSocket {
  const over = new TLSSocket(socket, { isServer: true, ...certificate });
  over.on('error', () => undefined);
  return over;
}

/** Returns a header of a mail, unfolded; `undefined` without it. */
export function headerOf({ raw }: TakenMail, name: string): string | undefined {
  const head = raw.split('\r\n\r\n')[0]?.replaceAll(/\r\n[ \t]+/g, ' ') ?? '';
  const line = head
    .split('\r\n')
    .find((one) => one.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  return line?.slice(name.length + 1).trim();
}

/** Returns the body of a mail with quoted-printable and base64 parts decoded. */
export function bodyOf({ raw }: TakenMail): string {
  return raw
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/((?:=[0-9A-F]{2})+)/g, (bytes) =>
      Buffer.from(bytes.replaceAll('=', ''), 'hex').toString(),
    );
}
