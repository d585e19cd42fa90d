/**
 * Letters of Cyrillic, Armenian and Greek beside the Latin letter that they are taken for: those that Unicode calls
 * confusable with one letter (UTS 39), as far as their usual shapes are the same.
 */
const pairs =
  'аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ӏl ёe АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ІI ЈJ ЅS ' +
  'ԚQ ԜW ҮY Ӏl օo սu հh ցg ոn ѵv ѴV αa οo ρp νv ιi υu κk ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ϲc ϳj';

/** The Latin letter that each is taken for. */
export const lookAlikes: ReadonlyMap<string, string> = new Map(
  pairs.split(' ').map((pair) => [pair.charAt(0), pair.charAt(1)]),
);

/** How far a word is looked at, in characters to either side. */
const reach = 24;

/** Tells whether a letter of another script stands in a word with Latin letters, where it is none of its own script. */
export function isAmongLatin(text: string, place: number): boolean {
  return hasLatin(text, place, -1) || hasLatin(text, place, 1);
}

function hasLatin(text: string, from: number, step: 1 | -1): boolean {
  for (let away = 1; away <= reach; away += 1) {
    const unit = text.charCodeAt(from + step * away);
    const letter = unit | 0x20;
    if (letter >= 0x61 && letter <= 0x7a && unit < 0x80) return true;
    // What is of ASCII and no letter, or the end of the text, ends a word.
    if (!(unit >= 0x80)) return false;
  }
  return false;
}

/** Returns the character of ASCII that a tag character stands for; `null` for any other character. */
export function taggedAscii(codePoint: number): string | null {
  const isTag = codePoint >= 0xe0020 && codePoint <= 0xe007e;
  return isTag ? String.fromCodePoint(codePoint - 0xe0000) : null;
}
