/**
 * Cyrillic, Armenian and Greek letters, each followed by the Latin letter it resembles: the letters that Unicode lists
 * as confusable with a single letter (UTS 39), as far as their usual shapes are identical.
 */
const pairs =
  'аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ӏl ёe АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ІI ЈJ ЅS ' +
  'ԚQ ԜW ҮY Ӏl օo սu հh ցg ոn ѵv ѴV αa οo ρp νv ιi υu κk ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ϲc ϳj';

/** Latin equivalents of the look-alike letters. */
export const lookAlikes: ReadonlyMap<string, string> = new Map(
  pairs.split(' ').map((pair) => [pair.charAt(0), pair.charAt(1)]),
);

/** Characters of a word that are inspected on either side. */
const reach = 24;

/**
 * Returns whether a letter of another script is in a word with Latin letters and has no neighbouring letter of its
 * own script.
 */
export function isAmongLatin(text: string, place: number): boolean {
  return hasLatin(text, place, -1) || hasLatin(text, place, 1);
}

function hasLatin(text: string, from: number, step: 1 | -1): boolean {
  for (let away = 1; away <= reach; away += 1) {
    const unit = text.charCodeAt(from + step * away);
    const letter = unit | 0x20;
    if (letter >= 0x61 && letter <= 0x7a && unit < 0x80) return true;
    // A non-letter ASCII character or the end of the text ends a word.
    if (!(unit >= 0x80)) return false;
  }
  return false;
}

/** Returns the ASCII character of a tag character; `null` for any other character. */
export function taggedAscii(codePoint: number): string | null {
  const isTag = codePoint >= 0xe0020 && codePoint <= 0xe007e;
  return isTag ? String.fromCodePoint(codePoint - 0xe0000) : null;
}
