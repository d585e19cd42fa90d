import { EditorView } from '@codemirror/view';

/** The theme of all editors. */
export const look = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--surface)', fontSize: '13px', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--ink)', paddingBlock: '12px' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { color: 'var(--ink-3)', backgroundColor: 'var(--surface)', border: '0' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    {
      backgroundColor: 'light-dark(#d9d4c6, #4a473f)',
    },
  '.cm-tooltip, .cm-panels': {
    color: 'var(--ink)',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line-strong)',
    borderRadius: '8px',
  },
  '.cm-tooltip': { overflow: 'hidden' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '240px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 12px', lineHeight: '20px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--ink)',
    backgroundColor: 'var(--chosen)',
  },
  '.cm-completionDetail': { color: 'var(--ink-3)', fontStyle: 'normal', marginLeft: '12px' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600' },
  '.cm-panels.cm-panels-top': {
    border: '0',
    borderBottom: '1px solid var(--line)',
    borderRadius: '0',
  },
  '.cm-panel.cm-search': {
    display: 'flex',
    flexWrap: 'wrap',
    gap: '8px',
    alignItems: 'center',
    padding: '8px 40px 8px 12px',
    font: 'var(--text-2)',
  },
  '.cm-panel.cm-search br': { display: 'none' },
  '.cm-panel.cm-search label': {
    display: 'inline-flex',
    gap: '4px',
    alignItems: 'center',
    font: 'var(--text-1)',
  },
  '.cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label': {
    margin: '0',
  },
  '.cm-panel.cm-search [name=close]': {
    top: '8px',
    right: '8px',
    width: '32px',
    height: '32px',
    font: 'var(--text-3)',
  },
  '.cm-completionInfo': { maxWidth: '360px', padding: '8px 12px' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--deny)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--ink-3)' },
  '.cm-lint-marker': {
    content: 'normal',
    width: '7px',
    height: '7px',
    margin: '6px auto 0',
    borderRadius: '50%',
    backgroundColor: 'var(--ink-3)',
  },
  '.cm-lint-marker-error': { backgroundColor: 'var(--deny)' },
  '.cm-lintRange': { backgroundImage: 'none', textDecoration: 'underline wavy var(--ink-3) 1px' },
  '.cm-lintRange-error': { textDecorationColor: 'var(--deny)' },
  '.cm-changedLineGutter': { backgroundColor: 'var(--allow)' },
  '.cm-deletedLineGutter': { backgroundColor: 'var(--deny)' },
  '.cm-textfield, .cm-button': {
    color: 'var(--ink)',
    backgroundColor: 'var(--surface)',
    backgroundImage: 'none',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    padding: '5px 10px',
    font: 'var(--text-2)',
  },
  '.cm-button': { fontWeight: '600', cursor: 'pointer', textTransform: 'capitalize' },
  '.cm-button:hover': { backgroundColor: 'var(--hover)', backgroundImage: 'none' },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--allow-wash)' },
  '.cm-deletedChunk': { backgroundColor: 'var(--deny-wash)' },
});

/** Handles text typed over a selection; the browser would add an inline style copied from the replaced text. */
export function typeOver(event: InputEvent, view: EditorView): boolean {
  const { inputType, data } = event;
  if (inputType !== 'insertText' || data === null || view.state.selection.main.empty) return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(data), {
    userEvent: 'input.type',
    scrollIntoView: true,
  });
  return true;
}
