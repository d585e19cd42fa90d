import { parseSync, Visitor } from 'oxc-parser';

/** What a stored snapshot names: ports of the charts, and the types of what goes in and out of them. */
const storedNames =
  /^(mint|MintInput|MintOutcome|judgeIntent|JudgeIntent|JudgeIntentInput|judgesIntent)$/;
const storedCharts = /^src\/machines\/(task|governance)\//;

/** Forms of a first word that no ending makes. */
const irregular: Record<string, string> = {
  take: 'tak(?:e|es|ing|en)|took',
  put: 'put(?:s|ting)?',
  set: 'set(?:s|ting)?',
};

/** Returns the words in code font in the last column of the glossary, each with an expression for its forms. */
export function forbiddenIn(contributing: string): Map<string, RegExp> {
  const rows =
    contributing
      .split('## Words')[1]
      ?.split('\n## ')[0]
      ?.match(/^\|.*\|$/gm) ?? [];
  const words = rows.flatMap(
    (row) => (row.split('|').at(-2) ?? '').match(/(?<=`)[a-z ]+(?=`)/g) ?? [],
  );
  return new Map(words.map((word) => [word, formsOf(word)]));
}

/** Lists the forbidden words in the names and comments of a file, as `<file>:<line>: <word>`, by line. */
export function wordsIn(file: string, source: string, forbidden: Map<string, RegExp>): string[] {
  const { program, comments } = parseSync(file, source);
  const texts = comments.map(({ start, value }) => ({
    start,
    text: value.replaceAll(/[\s*]+/g, ' '),
  }));
  const name = (node: { start: number; name: string }): void => {
    if (storedCharts.test(file) || storedNames.test(node.name)) return;
    texts.push({ start: node.start, text: wordsOf(node.name) });
  };
  new Visitor({ Identifier: name, PrivateIdentifier: name }).visit(program);
  return texts
    .toSorted((one, other) => one.start - other.start)
    .flatMap(({ start, text }) => {
      const line = source.slice(0, start).split('\n').length;
      const found = [...forbidden].filter(([, forms]) => forms.test(text));
      return found.map(([word]) => `${file}:${line}: ${word}`);
    });
}

/** Writes a name such as `isWayOut` as `is way out`. */
function wordsOf(name: string): string {
  return name.replaceAll(/(?<=[a-z\d])(?=[A-Z])|_/g, ' ').toLowerCase();
}

function formsOf(word: string): RegExp {
  const [first = '', ...rest] = word.split(' ');
  const forms = irregular[first] ?? `${first.replace(/e$/, '')}(?:e?s|e?d|ing|e|)`;
  return new RegExp(`\\b(?:${forms})\\b${rest.map((next) => ` ${next}s?\\b`).join('')}`, 'i');
}
