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
import { look, typeOver } from './editor-look.ts';
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
