/** Countries and the characters of their IBAN (ISO 13616 registry). */
const registry = `
  AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22
  DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28
  HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25
  MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29
  RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29
  VA22 VG24 XK20 YE30
`;

const lengths = new Map(
  registry
    .trim()
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/**
 * Returns the end of the IBAN at the start of a text, or `null`. Blanks and hyphens may separate its groups. It must
 * have the length of its country and a valid checksum, and end at a word boundary.
 */
export function endOfIban(text: string): number | null {
  const length = lengths.get(text.slice(0, 2).toUpperCase());
  if (length === undefined) return null;
  let account = '';
  let end = 0;
  for (const character of text) {
    if (account.length === length) break;
    end += character.length;
    if (/[A-Za-z0-9]/.test(character)) account += character;
    else if (!/[ -]/.test(character) || /[^A-Za-z0-9]/.test(text[end] ?? '')) return null;
  }
  if (account.length < length || /\w/.test(text[end] ?? '')) return null;
  return remainderOf(account) === 1 ? end : null;
}

/** ISO 7064 remainder modulo 97: letters count from 10, the first four characters come last. */
function remainderOf(account: string): number {
  let remainder = 0;
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}
