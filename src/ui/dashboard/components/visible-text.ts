import { piecesOf, type TextPiece } from '../../../machines/legible.ts';

/**
 * Splits text so that what hides in it can be shown, by the rule of chats: such a character becomes its name, as
 * `U+202E`, and a tab is named as well. Line breaks stay.
 */
export function visiblePieces(text: string): TextPiece[] {
  return piecesOf(text).map((piece) =>
    piece.kind === 'quiet' ? { text: 'tab', kind: 'quiet' } : piece,
  );
}
