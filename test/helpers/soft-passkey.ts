import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

const text64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** How an authenticator deviates from what the page asks. */
export interface PasskeyFault {
  origin?: string;
  rpId?: string;
  type?: string;
  challenge?: string;
  /** Flags of the authenticator data; 0x05 is a person who is present and verified. */
  flags?: number;
}

/** An authenticator in software with one ES256 key, as a browser would answer for it. */
export class SoftPasskey {
  readonly id: string;
  readonly origin: string;
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject };
  #counter = 0;

  constructor(origin: string, id = text64(randomBytes(16))) {
    this.id = id;
    this.origin = origin;
    this.#keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }

  /** Answers the options of a registration. */
  register({ challenge }: { challenge: string }, fault: PasskeyFault = {}): object {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const point = (value: string) => [0x58, 0x20, ...Buffer.from(value, 'base64url')];
    const cose = [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, ...point(x), 0x22, ...point(y)];
    const id = Buffer.from(this.id, 'base64url');
    const data = Buffer.concat([
      this.#head({ flags: 0x45, ...fault }),
      Buffer.alloc(16),
      Buffer.from([0, id.length]),
      id,
      Buffer.from(cose),
    ]);
    const attestation = Buffer.concat([
      Buffer.from([0xa3, 0x63]),
      Buffer.from('fmt'),
      Buffer.from([0x64]),
      Buffer.from('none'),
      Buffer.from([0x67]),
      Buffer.from('attStmt'),
      Buffer.from([0xa0, 0x68]),
      Buffer.from('authData'),
      Buffer.from([0x58, data.length]),
      data,
    ]);
    const client = this.#client({ type: 'webauthn.create', challenge, ...fault });
    return this.#answer({
      attestationObject: text64(attestation),
      clientDataJSON: text64(client),
    });
  }

  /** Answers the options of a confirmation. */
  confirm({ challenge }: { challenge: string }, fault: PasskeyFault = {}): object {
    const data = this.#head({ flags: 0x05, ...fault });
    const client = this.#client({ type: 'webauthn.get', challenge, ...fault });
    const signed = Buffer.concat([data, sha256(client)]);
    return this.#answer({
      authenticatorData: text64(data),
      clientDataJSON: text64(client),
      signature: text64(sign('sha256', signed, this.#keys.privateKey)),
    });
  }

  #answer(response: object): object {
    return {
      ...{ id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {} },
      response,
    };
  }

  #head({ flags = 0, rpId = new URL(this.origin).hostname }: PasskeyFault): Buffer {
    this.#counter += 1;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter]);
  }

  #client({ type, challenge, origin = this.origin }: PasskeyFault): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }
}
