import { describe, expect, it } from 'vitest';
import { endOfIban } from '../../../../src/actors/governance/guardrails/personal-rules.ts';

describe('an IBAN at the beginning of a string', () => {
  it.each<[string, string, string]>([
    ['without blanks', 'DE89370400440532013000', ''],
    ['in groups', 'DE89 3704 0044 0532 0130 00', ''],
    ['separated by hyphens', 'DE89-3704-0044-0532-0130-00', ''],
    ['with letters', 'GB82WEST12345698765432', ''],
    ['in small letters', 'gb82 west 1234 5698 7654 32', ''],
    ['of the shortest country', 'NO69 9300 0000 001', ''],
    ['of a country with a very long one', 'MT84MALT011000012345MTLCAST001S', ''],
    ['before the end of a sentence', 'DE89370400440532013000', '. Thanks'],
    ['before more groups', 'DE89 3704 0044 0532 0130 00', ' 12'],
    ['before a hyphen', 'DE89370400440532013000', '-'],
    ['before an emoji', 'DE89370400440532013000', '\u{1f600}'],
  ])('is found %s', (_, account, after) => {
    expect(endOfIban(account + after)).toBe(account.length);
  });

  it.each<[string, string]>([
    ['nothing', ''],
    ['a word', 'DEAR Ann'],
    ['another checksum', 'DE88370400440532013000'],
    ['two swapped digits', 'DE89370400440532010300'],
    ['a country without IBANs, although the checksum is right', 'XX46370400440532013000'],
    ['a missing digit, although the checksum is right', 'DE5137040044053201300'],
    ['its end cut off', 'DE89 3704 0044 0532 0130 '],
    ['a further digit', 'DE893704004405320130001'],
    ['a letter after it', 'DE89370400440532013000x'],
    ['an underscore after it', 'DE89370400440532013000_'],
    ['two blanks between groups', 'DE89  3704 0044 0532 0130 00'],
    ['a blank and a hyphen between groups', 'DE89 -3704 0044 0532 0130 00'],
    ['dots between groups', 'DE89.3704.0044.0532.0130.00'],
    ['a line break in it', 'DE89\n3704 0044 0532 0130 00'],
    ['an emoji in it', 'DE89\u{1f600}370400440532013000'],
  ])('is not found in %s', (_, text) => {
    expect(endOfIban(text)).toBeNull();
  });
});
