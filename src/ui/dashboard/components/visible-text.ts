import { piecesOf, type TextPiece } from '../../../machines/legible.ts';

/**
 * Splits text so that hidden content is displayed, with the same rule as in chats: a hidden character becomes its name,
 * such as `U+202E`, and tabs are named too. Line breaks stay.
 */
export function visiblePieces(text: string): TextPiece[] {
  return piecesOf(text).map((piece) =>
    piece.kind === 'quiet' ? { text: 'tab', kind: 'quiet' } : piece,
  );
}
