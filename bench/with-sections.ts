/**
 * Puts sections, each of which begins with its heading, into a document: in the place of the one with the same heading,
 * and at the end when there is none. Other text there is kept.
 */
export function withSections(document: string, sections: readonly string[]): string {
  const parts = document.trimEnd().split(/^(?=## )/m);
  for (const section of sections) {
    const whole = `${section.trim()}\n\n`;
    const at = parts.findIndex((part) => headingOf(part) === headingOf(whole));
    if (at === -1) parts.push(whole);
    else parts[at] = whole;
  }
  return `${parts.map((part) => part.trimEnd()).join('\n\n')}\n`;
}

/** The text before the first heading has the title of the document. */
function headingOf(part: string): string {
  return part.split('\n', 1)[0] ?? '';
}
