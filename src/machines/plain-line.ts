import { unsafeCharacters } from './unsafe-characters.ts';

/**
 * Escapes control, format and line-breaking characters, so that text from a model or a caller can neither control a
 * terminal nor start a line of its own.
 */
export function plainLine(text: string): string {
  return text.replace(unsafeCharacters, (character) =>
    Array.from({ length: character.length }, (_, index) => escaped(character, index)).join(''),
  );
}

function escaped(character: string, index: number): string {
  return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
}
