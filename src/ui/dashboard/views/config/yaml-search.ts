import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { keymap } from '@codemirror/view';

/** The search of the editor: it draws only the lines that are seen, so the browser's own finds less. */
export const searchExtensions = [
  search({ top: true }),
  highlightSelectionMatches(),
  keymap.of([...searchKeymap]),
];
