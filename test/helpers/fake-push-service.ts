import {
  createDecipheriv,
  createECDH,
  createHash,
  hkdfSync,
  randomBytes,
  randomUUID,
} from 'node:crypto';
import { createServer } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** A push that a service received. */
export interface ReceivedPush {
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** A push service on loopback that keeps what it receives. */
export interface FakePushService {
  origin: string;
  received: ReceivedPush[];
  /** Status of the next answers, in order; 201 afterwards. */
  answers: number[];
}

/** Starts a push service that is closed after the test. */
export async function startPushService(): Promise<FakePushService> {
  const service: FakePushService = { origin: '', received: [], answers: [] };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      service.received.push({ path: request.url ?? '', headers, body: Buffer.concat(chunks) });
      response.statusCode = service.answers.shift() ?? 201;
      response.end();
    });
  });
  service.origin = await listenOnLoopback(server);
  return service;
}

/** The subscription of a browser without a screen, which can read its pushes. */
export class PushedBrowser {
  readonly endpoint: string;
  readonly keys: { p256dh: string; auth: string };
  readonly #pair = createECDH('prime256v1');

  constructor(origin: string) {
    this.endpoint = `${origin}/push/${randomUUID()}`;
    const p256dh = this.#pair.generateKeys().toString('base64url');
    this.keys = { p256dh, auth: randomBytes(16).toString('base64url') };
  }

  /** Id of the device at the daemon. */
  get id(): string {
    return createHash('sha256').update(this.endpoint).digest('hex');
  }

  get subscription(): object {
    return { endpoint: this.endpoint, keys: this.keys };
  }

  /** Returns the pushes of this browser, decrypted (RFC 8188, RFC 8291). */
  texts({ received }: FakePushService): string[] {
    const { pathname } = new URL(this.endpoint);
    return received.filter(({ path }) => path === pathname).map(({ body }) => this.#text(body));
  }

  #text(body: Buffer): string {
    const [salt, length] = [body.subarray(0, 16), body[20] ?? 0];
    const sender = body.subarray(21, 21 + length);
    const sealed = body.subarray(21 + length);
    const own = this.#pair.getPublicKey();
    const secret = Buffer.from(this.keys.auth, 'base64url');
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), own, sender]);
    const shared = hkdfSync('sha256', this.#pair.computeSecret(sender), secret, info, 32);
    const derive = (name: string, size: number) =>
      Buffer.from(
        hkdfSync('sha256', new Uint8Array(shared), salt, `Content-Encoding: ${name}\0`, size),
      );
    const open = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
    open.setAuthTag(sealed.subarray(-16));
    const padded = Buffer.concat([open.update(sealed.subarray(0, -16)), open.final()]);
    return padded.subarray(0, padded.lastIndexOf(2)).toString();
  }
}
