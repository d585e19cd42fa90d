/** Text that is already markup. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Builds markup; escapes every inserted value that is not markup itself. */
export function html(parts: TemplateStringsArray, ...values: (string | Html)[]): Html {
  return new Html(
    parts.reduce((text, part, index) => text + shown(values[index - 1] ?? '') + part),
  );
}

function shown(value: string | Html): string {
  return value instanceof Html
    ? value.text
    : value.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
