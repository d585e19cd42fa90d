import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';

/** A mail that the server took. */
export interface TakenMail {
  to: string[];
  /** As sent, with its headers. */
  raw: string;
}

/** An SMTP server on 127.0.0.1 for one user. */
export class FakeSmtp {
  readonly user = 'holdpoint';
  readonly password = 'canary-smtp-password';
  readonly mails: TakenMail[] = [];
  readonly #server: Server;
  readonly #faults: [command: string, answer: string][] = [];
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  /** Starts one that is closed after the test. */
  static async start(): Promise<FakeSmtp> {
    const fake = new FakeSmtp();
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

  /** Resolves with the mails once there are so many. */
  async took(count: number): Promise<TakenMail[]> {
    await vi.waitUntil(() => this.mails.length >= count, { timeout: 15_000, interval: 5 });
    return this.mails;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    let to: string[] = [];
    let body: string[] | null = null;
    let rest = '';
    const say = (line: string) => void socket.write(`${line}\r\n`);
    const line = (text: string) => {
      if (body !== null) {
        if (text !== '.') return void body.push(text.replace(/^\./, ''));
        this.mails.push({ to, raw: body.join('\r\n') });
        [body, to] = [null, []];
        return say('250 taken');
      }
      const command = text.split(' ')[0]?.toUpperCase() ?? '';
      const fault = this.#faults.findIndex(([name]) => name === command);
      if (fault >= 0) return say(this.#faults.splice(fault, 1)[0]?.[1] ?? '');
      if (command === 'EHLO') return say('250-fake\r\n250 AUTH PLAIN');
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
    say('220 fake');
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString()).split('\r\n');
      rest = lines.pop() ?? '';
      for (const each of lines) line(each);
    });
  }
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
