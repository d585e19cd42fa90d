import { isJsonObject, parseJson } from '../../../../machines/json.ts';

/** Files by their content. */
export interface SortedFiles {
  receipts: { name: string; jws: string }[];
  /** Texts of key sets. */
  keys: { name: string; text: string }[];
  logs: File[];
  /** Names of files that are none of these. */
  unusable: string[];
}

/** Maximum bytes of a file of receipts or keys. */
const mostBytes = 16 * 1024 * 1024;

/** Sorts files into receipts, key sets and logs by their content; the names do not matter. */
export async function sortFiles(files: readonly File[]): Promise<SortedFiles> {
  const sorted: SortedFiles = { receipts: [], keys: [], logs: [], unusable: [] };
  for (const file of files) {
    const { name } = file;
    const [first = ''] = (await file.slice(0, beginning).text()).trimStart().split('\n', 1);
    if (isReceipt(first) && file.size <= mostBytes) {
      const lines = (await file.text()).split('\n').map((line) => line.trim());
      const found = lines.filter((line) => line !== '').map((jws) => ({ name, jws }));
      sorted.receipts.push(...found);
    } else if (file.size <= mostBytes && isKeySet(await file.text())) {
      sorted.keys.push({ name, text: await file.text() });
    } else if (isLogLine(first)) sorted.logs.push(file);
    else sorted.unusable.push(name);
  }
  return sorted;
}

/** Bytes in which the first line of a receipt or of a log ends. */
const beginning = 5 * 1024 * 1024;

function isReceipt(line: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(line.trim());
}

function isKeySet(text: string): boolean {
  const value = parseJson(text);
  return isJsonObject(value) && 'keys' in value;
}

function isLogLine(line: string): boolean {
  const value = parseJson(line);
  return isJsonObject(value) && 'prev_hash' in value;
}
