import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { Annotation, Compartment, EditorState, StateEffect } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { ConfigCheckJson, ProblemJson } from '../../../../http/wire/dashboard/config-json.ts';
import { placeIn, type Schema, wordsAt } from './schema-words.ts';

export interface EditorOptions {
  text: string;
  label: string;
  /** Returns the JSON Schema of the text, which may load later; `null` disables completion. */
  schema: () => Schema | null;
  changed: (text: string) => void;
  save: () => void;
}

/** Marks a change made by the page itself. */
const ofPage = Annotation.define<boolean>();

const look = EditorView.theme({
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

const colours = HighlightStyle.define([
  {
    tag: [tags.propertyName, tags.definition(tags.propertyName)],
    color: 'var(--ink)',
    fontWeight: '600',
  },
  { tag: tags.comment, color: 'var(--ink-3)' },
  { tag: [tags.string, tags.content, tags.attributeValue], color: 'var(--ink-2)' },
  { tag: [tags.keyword, tags.typeName, tags.labelName], color: 'var(--ink-2)' },
]);

/**
 * A YAML editor. It uses a shadow tree, where its styles are constructed sheets, which a strict content security policy
 * allows; in the document they would be inline styles.
 */
export class YamlEditor {
  readonly #view: EditorView;
  readonly #merge = new Compartment();
  #compared: string | null = null;

  constructor(host: HTMLElement, { text, label, schema, changed, save }: EditorOptions) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const state = EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentUnit.of('  '),
        indentOnInput(),
        highlightActiveLine(),
        yaml(),
        syntaxHighlighting(colours),
        lintGutter(),
        autocompletion({ override: [(context) => complete(context, schema())], icons: false }),
        look,
        this.#merge.of([]),
        // The scrollable content is focusable.
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.lineWrapping,
        EditorView.domEventHandlers({ beforeinput: typeOver }),
        // Tab leaves the editor, to avoid a keyboard trap.
        keymap.of([
          {
            key: 'Mod-s',
            preventDefault: true,
            run: () => {
              save();
              return true;
            },
          },
          ...completionKeymap,
          ...lintKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        EditorView.updateListener.of(({ docChanged, transactions, state: { doc } }) => {
          if (docChanged && !transactions.some((one) => one.annotation(ofPage) === true)) {
            changed(doc.toString());
          }
        }),
      ],
    });
    this.#view = new EditorView({ state, parent: root, root });
    import('./yaml-search.ts')
      .then(({ searchExtensions }) =>
        this.#view.dispatch({ effects: StateEffect.appendConfig.of(searchExtensions) }),
      )
      // Without it, the browser's search finds the rendered lines.
      .catch(() => undefined);
  }

  /** Replaces the text. */
  setText(text: string): void {
    const { doc } = this.#view.state;
    if (doc.toString() === text) return;
    const changes = { from: 0, to: doc.length, insert: text };
    this.#view.dispatch({ changes, annotations: ofPage.of(true) });
  }

  /** Marks problems on their lines. */
  setProblems({ errors, warnings }: Pick<ConfigCheckJson, 'errors' | 'warnings'>): void {
    const diagnostics = [
      ...errors.map((problem) => this.#diagnostic(problem, 'error')),
      ...warnings.map((problem) => this.#diagnostic(problem, 'warning')),
    ].toSorted((one, other) => one.from - other.from);
    this.#view.dispatch(setDiagnostics(this.#view.state, diagnostics));
  }

  /**
   * Shows the differences to another text; `null` shows only this text. Rejects if the difference view cannot be
   * loaded.
   */
  async compareWith(text: string | null): Promise<void> {
    this.#compared = text;
    if (text === null) {
      this.#view.dispatch({ effects: this.#merge.reconfigure([]) });
      return;
    }
    const { unifiedMergeView } = await import('@codemirror/merge');
    if (this.#compared !== text) return;
    const merge = unifiedMergeView({ original: text, mergeControls: false, gutter: true });
    this.#view.dispatch({ effects: this.#merge.reconfigure(merge) });
  }

  /** Moves the cursor to a problem's line. */
  goTo(line: number): void {
    const { doc } = this.#view.state;
    const { from } = doc.line(Math.min(Math.max(1, line), doc.lines));
    this.#view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    this.#view.focus();
  }

  destroy(): void {
    this.#view.destroy();
  }

  #diagnostic({ message, line, column }: ProblemJson, severity: 'error' | 'warning'): Diagnostic {
    const { doc } = this.#view.state;
    const at = doc.line(Math.min(Math.max(1, line ?? 1), doc.lines));
    const from = Math.min(at.to, at.from + Math.max(0, (column ?? 1) - 1));
    return { from, to: at.to, severity, message };
  }
}

/** Handles text typed over a selection; the browser would add an inline style copied from the replaced text. */
function typeOver(event: InputEvent, view: EditorView): boolean {
  const { inputType, data } = event;
  if (inputType !== 'insertText' || data === null || view.state.selection.main.empty) return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(data), {
    userEvent: 'input.type',
    scrollIntoView: true,
  });
  return true;
}

function complete(context: CompletionContext, schema: Schema | null): CompletionResult | null {
  if (schema === null) return null;
  const { path, isValue, word } = placeIn(context.state.sliceDoc(0, context.pos));
  if (word === '' && !context.explicit && !isValue) return null;
  const options = wordsAt(schema, path)
    .filter(({ kind }) => !isValue || kind === 'value')
    .map(({ word: label, kind, about }) => ({
      label,
      apply: kind === 'key' ? `${label}: ` : label,
      detail: about.split('. ')[0]?.slice(0, 60) ?? '',
      info: about,
    }));
  return options.length === 0 ? null : { from: context.pos - word.length, options };
}
