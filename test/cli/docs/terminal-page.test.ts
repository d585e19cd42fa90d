import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import { lexed } from '../../../src/cli/docs/doc-sections.ts';
import { terminalPage } from '../../../src/cli/docs/terminal-page.ts';

function shown(text: string, { width = 30, isColoured = false } = {}): string {
  return terminalPage(lexed(text), {
    width,
    colours: picocolors.createColors(isColoured),
    linkName: (href) => `[${href}]`,
  });
}

describe('a page in a terminal', () => {
  it('breaks lines at words and does not break code', () => {
    const page =
      '# Ask\n\nThe gate asks a person before a call runs.\n\n```sh\nholdpoint run --dir a --port 8080 # one line\n```\n';
    expect(shown(page)).toBe(`Ask

The gate asks a person before
a call runs.

    holdpoint run --dir a --port 8080 # one line
`);
  });

  it('keeps a word with several styles whole', () => {
    expect(shown('Write `a`, **b**, [c](d.md) and `e`s.', { width: 12 })).toBe(`Write \`a\`,
b, c [d.md]
and \`e\`s.
`);
  });

  it('numbers, nests and indents lists', () => {
    expect(shown('3. one\n4. two words that are broken\n   - inner\n\n- a\n- b')).toBe(`3. one
4. two words that are broken
   - inner

- a
- b
`);
  });

  it('shows a table in columns', () => {
    const table =
      '| Key | What it does |\n|---|---|\n| `to` | Asks this target, which may be a channel |\n| `a\\|b` | either |';
    expect(shown(table, { width: 40 })).toBe(`Key    What it does
─────  ─────────────────────────────────
\`to\`   Asks this target, which may be a
       channel
\`a|b\`  either
`);
  });

  it('shows a table that does not fit as a list', () => {
    const table =
      '| Key | Value | Meaning |\n|---|---|---|\n| a-long-key | a-long-value | what it does here |\n| b |  | c |';
    expect(shown(table, { width: 24 })).toBe(`a-long-key
    Value: a-long-value
    Meaning: what it
    does here

b
    Meaning: c
`);
  });

  it('shows entities as characters, and no comment', () => {
    expect(shown('a &lt;b&gt; &amp; "c"<br>d\n\n<!-- hidden -->\n')).toBe('a <b> & "c"\nd\n');
  });

  it('uses colours where the terminal has them', () => {
    expect(shown('`a` and **b**', { isColoured: true })).toBe(
      '\u001B[36ma\u001B[39m and \u001B[1mb\u001B[22m\n',
    );
  });
});
