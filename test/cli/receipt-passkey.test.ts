import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { signReceipt } from '../../src/actors/records/log/sign-receipt.ts';
import { passkeyText } from '../../src/machines/governance/passkey.ts';
import { keyOf } from '../actors/records/log/log-of.ts';
import { SoftPasskey } from '../helpers/soft-passkey.ts';
import { holdpointHere } from './command-here.ts';
import { cleanUp, temporaryFolder } from './holdpoint.ts';

afterAll(cleanUp);

const origin = 'https://approvals.example.com';
const [deferralId, argsSha256, nonce] = ['c-1', 'a'.repeat(64), 'n-1'];
const own = keyOf('service-audit-v1', Buffer.alloc(32, 7));

/** The claims of a call that a passkey released. */
function claimsOf() {
  const key = new SoftPasskey(origin);
  const text = passkeyText({ deferralId, argsSha256, decision: 'approve' }, nonce);
  const challenge = hash('sha256', text, 'base64url');
  const registered: any = key.register({ challenge });
  const attestation = Buffer.from(registered.response.attestationObject, 'base64url');
  const { response }: any = key.confirm({ challenge });
  const passkey = {
    credential_id: key.id,
    public_key: attestation.subarray(-77).toString('base64url'),
    ...{ nonce, rp_id: 'approvals.example.com', origin },
    authenticator_data: response.authenticatorData,
    client_data: response.clientDataJSON,
    signature: response.signature,
  };
  return {
    ...{ version: 2, task_id: 't-1', call_id: deferralId, deferral_id: deferralId },
    ...{ args_sha256: argsSha256, asked: { tool: 'pay' }, ran: null, lines: [] },
    decisions: [
      { decision: 'approve', approver: 'ann@example.com', args_sha256: argsSha256, passkey },
    ],
  };
}

async function verify(claims: object) {
  const folder = await temporaryFolder();
  const [file, keys] = [join(folder, 'receipt'), join(folder, 'keys.json')];
  writeFileSync(file, `${signReceipt(claims as any, own.signer)}\n`);
  writeFileSync(keys, JSON.stringify({ keys: [own.publicKey] }));
  return holdpointHere(['receipt', 'verify', file, '--keys', keys]);
}

describe('receipt verify of a call that a passkey released', () => {
  it('states the passkey whose signature it has verified', async () => {
    expect(await verify(claimsOf())).toMatchObject({
      code: 0,
      stdout: 't-1 c-1: signed; pay: not run, approved by ann@example.com with a passkey\n',
    });
  });

  it.each<[string, (claims: ReturnType<typeof claimsOf>) => unknown]>([
    ['the arguments', ({ decisions: [one] }) => one && (one.args_sha256 = 'b'.repeat(64))],
    ['the call', (claims) => (claims.deferral_id = 'c-2')],
    ['the decision', ({ decisions: [one] }) => one && (one.decision = 'reject')],
    ['the key', ({ decisions: [one] }) => one && (one.passkey.public_key = 'AAAA')],
  ])('exits with 6 if the agent signed other data: %s', async (_, change) => {
    const claims = claimsOf();
    change(claims);
    expect(await verify(claims)).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(
        'the passkey of "ann@example.com" has not confirmed this decision: a member was changed',
      ),
    });
  });
});
