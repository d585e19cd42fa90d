import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightSpecialChars, lineNumbers } from '@codemirror/view';

const look = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--surface)', fontSize: '12px' },
  '&.cm-focused': { outline: '2px solid var(--ink)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '18px' },
  '.cm-gutters': { color: 'var(--ink-3)', backgroundColor: 'var(--surface)', border: '0' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--deny-wash)' },
  '&.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--allow-wash)' },
  '&.cm-merge-a .cm-changedText': {
    background: 'none',
    textDecoration: 'underline',
    textDecorationColor: 'var(--deny)',
  },
  '&.cm-merge-b .cm-changedText': {
    background: 'none',
    textDecoration: 'underline',
    textDecorationColor: 'var(--allow)',
  },
  '.cm-changedLineGutter, .cm-insertedLineGutter': { backgroundColor: 'var(--allow)' },
  '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': { backgroundColor: 'var(--deny)' },
  '.cm-collapsedLines': { color: 'var(--ink-2)', background: 'var(--sunken)' },
  // Not every font has the glyph of these marks.
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: 'none' },
});

/**
 * Shows two texts side by side in a shadow tree, where the styles are constructed sheets, which a strict content
 * security policy allows.
 */
export function openDiff(
  host: HTMLElement,
  before: string,
  after: string,
  name: string,
): () => void {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const side = (doc: string, label: string) => ({
    doc,
    extensions: [
      lineNumbers(),
      highlightSpecialChars(),
      EditorView.lineWrapping,
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ 'aria-label': label }),
      look,
    ],
  });
  const view = new MergeView({
    a: side(before, `${name}, current`),
    b: side(after, `${name}, new`),
    parent: root,
    root,
    collapseUnchanged: { margin: 3, minSize: 6 },
    diffConfig: { scanLimit: 2_000, timeout: 500 },
  });
  return () => view.destroy();
}
