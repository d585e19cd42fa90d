import { isDeepStrictEqual } from 'node:util';
import { readText } from './files.mjs';
import { run } from './run.mjs';

const largest = 8 * 1024 * 1024;
const deepest = 200;

await run(({ before, after, before_file: beforeFile, after_file: afterFile, limit = 200 }) => {
  const found = { added: 0, removed: 0, changed: 0 };
  const differences = [];
  const tell = (kind, path, values) => {
    found[kind] += 1;
    if (differences.length < limit) differences.push({ path, kind, ...values });
  };
  compare(document('before', before, beforeFile), document('after', after, afterFile), '', 0, tell);
  const { added, removed, changed } = found;
  const total = added + removed + changed;
  return { same: total === 0, ...found, differences, more: total - differences.length };
});

function document(name, text, file) {
  if ((text === undefined) === (file === undefined)) {
    throw new Error(`give either ${name} or ${name}_file`);
  }
  try {
    return JSON.parse(text ?? readText(file, largest));
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`${file ?? name} is not JSON`);
    throw error;
  }
}

function compare(one, other, path, depth, tell) {
  if (depth > deepest) throw new Error(`the documents are nested deeper than ${deepest} levels`);
  if (isBranch(one) && isBranch(other) && Array.isArray(one) === Array.isArray(other)) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const place = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (!Object.hasOwn(one, key)) tell('added', place, { after: shown(other[key]) });
      else if (!Object.hasOwn(other, key)) tell('removed', place, { before: shown(one[key]) });
      else compare(one[key], other[key], place, depth + 1, tell);
    }
  } else if (!isDeepStrictEqual(one, other)) {
    tell('changed', path, { before: shown(one), after: shown(other) });
  }
}

function isBranch(value) {
  return typeof value === 'object' && value !== null;
}

/** A value in short, so that many fit into one answer. */
function shown(value) {
  const text = JSON.stringify(value);
  return text.length <= 300 ? value : `${text.slice(0, 300)}…`;
}
