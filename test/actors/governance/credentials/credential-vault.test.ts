import { expect, it } from 'vitest';
import { HeldCredential } from '../../../../src/actors/governance/credentials/credential.ts';
import { CredentialVault } from '../../../../src/actors/governance/credentials/credentials.ts';

const credentialOf = (value: string) => new HeldCredential('static', null, { KEY: value });

it('a credential is taken once', () => {
  const vault = new CredentialVault();
  const credential = credentialOf('one');
  vault.put('call-1', credential);
  expect(vault.take('call-2')).toBe(null);
  expect(vault.take('call-1')).toBe(credential);
  expect(vault.take('call-1')).toBe(null);
  expect(credential.env()).toEqual({ KEY: 'one' });
});

it('a dropped credential is revoked', () => {
  const vault = new CredentialVault();
  const credential = credentialOf('one');
  vault.put('call-1', credential);
  vault.drop('call-1');
  vault.drop('call-1');
  expect(vault.take('call-1')).toBe(null);
  expect(() => credential.env()).toThrow(
    expect.objectContaining({
      code: 'credential_failed',
      message: 'the credential was revoked; issue another one for another call',
    }),
  );
});

it('a replaced credential is revoked, unless it is the same', () => {
  const vault = new CredentialVault();
  const [first, second] = [credentialOf('one'), credentialOf('two')];
  vault.put('call-1', first);
  vault.put('call-1', second);
  vault.put('call-1', second);
  expect(() => first.env()).toThrow('the credential was revoked');
  expect(vault.take('call-1')?.env()).toEqual({ KEY: 'two' });
});
