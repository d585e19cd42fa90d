/** A run of text in one style. */
export interface Piece {
  text: string;
  /** Adds the escape codes of the style to a string without a line break. */
  style: (text: string) => string;
}

/** Breaks pieces into lines of at most `width` characters, escape codes not counted. A longer word has its own line. */
export function wrapWords(pieces: readonly Piece[], width: number): string[] {
  const lines: string[] = [];
  let line = { text: '', length: 0 };
  const end = () => {
    lines.push(line.text);
    line = { text: '', length: 0 };
  };
  for (const word of wordsOf(pieces)) {
    if (word === 'break') end();
    else if (line.length === 0) line = { ...word };
    else if (line.length + 1 + word.length > width) {
      end();
      line = { ...word };
    } else {
      line = { text: `${line.text} ${word.text}`, length: line.length + 1 + word.length };
    }
  }
  end();
  return lines;
}

/** Returns the text of pieces without their styles. */
export function joined(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('');
}

/** A word with its escape codes, and the number of characters that a terminal shows of it. */
interface Word {
  text: string;
  length: number;
}

/** Splits pieces at blanks. Pieces without a blank between them form one word. */
function wordsOf(pieces: readonly Piece[]): (Word | 'break')[] {
  const words: (Word | 'break')[] = [];
  let open: Word | null = null;
  for (const { text, style } of pieces) {
    for (const part of text.split(/(\n|[^\S\n]+)/)) {
      if (part === '') continue;
      if (part.trim() === '') {
        open = null;
        if (part === '\n') words.push('break');
      } else if (open === null) {
        open = { text: style(part), length: [...part].length };
        words.push(open);
      } else {
        open.text += style(part);
        open.length += [...part].length;
      }
    }
  }
  return words;
}
