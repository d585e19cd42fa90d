import { autocompletion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap } from '@codemirror/view';
import type {
  ConditionCheckJson,
  ConditionWordJson,
} from '../../../../http/wire/dashboard/policy-edit-json.ts';
import { look, typeOver } from '../config/editor-look.ts';
import { completionsAt } from './condition-words.ts';

export interface CelEditorOptions {
  text: string;
  label: string;
  /** Returns the names for completion, which may load later. */
  names: () => { words: readonly ConditionWordJson[]; tools: readonly string[] };
  changed: (text: string) => void;
}

const small = EditorView.theme({
  '&': { height: 'auto' },
  '.cm-content': { paddingBlock: '8px', paddingInline: '6px' },
});

/** An editor of one CEL expression, in a shadow tree like the YAML editor. */
export class CelEditor {
  readonly #view: EditorView;

  constructor(host: HTMLElement, { text, label, names, changed }: CelEditorOptions) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const state = EditorState.create({
      doc: text,
      extensions: [
        history(),
        drawSelection(),
        autocompletion({ override: [(context) => complete(context, names())], icons: false }),
        look,
        small,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.lineWrapping,
        EditorView.domEventHandlers({ beforeinput: typeOver }),
        // Tab leaves the editor, to avoid a keyboard trap.
        keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.updateListener.of(({ docChanged, state: { doc } }) => {
          if (docChanged) changed(doc.toString());
        }),
      ],
    });
    this.#view = new EditorView({ state, parent: root, root });
    this.#view.focus();
  }

  /** Underlines the fault of the expression from its position on. */
  setFault(fault: ConditionCheckJson['fault']): void {
    const { state } = this.#view;
    const { length } = state.doc;
    const from = Math.min(fault?.at ?? 0, Math.max(0, length - 1));
    const marks =
      fault === null
        ? []
        : [{ from, to: length, severity: 'error' as const, message: fault.message }];
    this.#view.dispatch(setDiagnostics(state, marks));
  }

  destroy(): void {
    this.#view.destroy();
  }
}

function complete(context: CompletionContext, names: ReturnType<CelEditorOptions['names']>) {
  const before = context.state.sliceDoc(0, context.pos);
  const found = completionsAt(before, names);
  if (found === null || found.words.length === 0) return null;
  const isEmpty = found.from === context.pos && !/[."']$/.test(before);
  if (isEmpty && !context.explicit) return null;
  return {
    from: found.from,
    options: found.words.map(({ word, type, about }) => ({
      label: word,
      detail: type,
      ...(about === '' ? {} : { info: about }),
    })),
    validFor: /^\w*$/,
  };
}
