import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { keymap } from '@codemirror/view';

/** The editor's own search. It renders only visible lines, so the browser's search would miss the rest. */
export const searchExtensions = [
  search({ top: true }),
  highlightSelectionMatches(),
  keymap.of([...searchKeymap]),
];
