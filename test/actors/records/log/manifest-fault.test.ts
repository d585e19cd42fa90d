import canonicalize from 'canonicalize';
import { describe, expect, it } from 'vitest';
import { verifySignature } from '../../../../src/actors/records/log/line-signature.ts';
import { manifestFault } from '../../../../src/actors/records/log/manifest-fault.ts';
import { nodeKeyRing } from '../../../../src/actors/records/log/node-crypto.ts';
import { signManifest } from '../../../../src/actors/records/log/sign-manifest.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { testKey } from './log-of.ts';

const own = testKey('service-audit-v1', 1);
const other = testKey('service-audit-v1', 2);
const keys = { keys: [own.publicKey] };
const manifest: JsonObject = { files: { 'agent/SKILL.md': { mode: 420, sha256: 'ab' } } };

describe('manifestFault', () => {
  it('accepts a manifest that one of the keys signed', async () => {
    const signed = { ...manifest, ...signManifest(manifest, own.signer) };
    expect(await manifestFault(signed, keys)).toBeNull();
  });

  it('reports a missing signature, an unknown key, a changed manifest and a foreign signature', async () => {
    const signature = signManifest(manifest, own.signer);
    const changed = 'sig does not match the line';
    expect(await manifestFault(manifest, keys)).toBe('sig is missing');
    expect(await manifestFault({ ...manifest, ...signature }, { keys: [] })).toBe(
      'kid is not one of the keys',
    );
    expect(await manifestFault({ ...manifest, ...signature, files: {} }, keys)).toBe(changed);
    const foreign = { ...manifest, ...signManifest(manifest, other.signer) };
    expect(await manifestFault(foreign, keys)).toBe(changed);
  });

  it('separates signatures of manifests from those of lines', async () => {
    const line = { ...manifest, kid: own.signer.kid };
    const sig = own.signer.sign(Buffer.from(canonicalize(line) as string));
    const options = { keys: nodeKeyRing(keys), requireSigned: true };
    expect(await verifySignature({ ...line, sig }, options)).toBeNull();

    expect(await manifestFault({ ...line, sig }, keys)).toBe('sig does not match the line');
    const signed = { ...manifest, ...signManifest(manifest, own.signer) };
    expect(await verifySignature(signed, options)).toBe('sig does not match the line');
  });
});
