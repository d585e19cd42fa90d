import { unsafeCharacters } from './unsafe-characters.ts';

/**
 * Shows control, format and line-breaking characters as escapes, so that what a model or a caller wrote can
 * neither draw on a terminal nor begin a line of its own.
 */
export function plainLine(text: string): string {
  return text.replace(unsafeCharacters, (character) =>
    Array.from({ length: character.length }, (_, index) => escaped(character, index)).join(''),
  );
}

function escaped(character: string, index: number): string {
  return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
}
