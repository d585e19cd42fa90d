import {
  type Field,
  type FieldValue,
  type FieldValues,
  splitList,
} from '../../machines/wizard/field.ts';
import type { Prompts } from './prompts.ts';

/** Prompts for the values of fields one after another, with known values as defaults. */
export async function askFields(
  prompts: Prompts,
  fields: readonly Field[],
  known: FieldValues,
  about: string,
): Promise<FieldValues> {
  const values: [string, FieldValue][] = [];
  for (const field of fields) {
    const value = await askField(prompts, field, known[field.name], about);
    if (value !== '') values.push([field.name, value]);
  }
  return Object.fromEntries(values);
}

async function askField(
  prompts: Prompts,
  { name, label, kind, required, example, keys = [] }: Field,
  known: FieldValue = '',
  about: string,
): Promise<FieldValue> {
  const what = about === '' ? label : `${about}: ${label}`;
  if (kind === 'secret') {
    return (await prompts.secret(`${what} (empty: from the environment)`)).trim();
  }
  if (kind === 'map') return askMap(prompts, keys, known);
  const message = `${what} (${required ? '' : 'if any, '}such as ${example})`;
  const typed = await prompts.text(message, shown(known, name));
  return kind === 'list' ? splitList(typed) : typed.trim();
}

/** Claims are rarely renamed, so they are entered on one line. */
async function askMap(
  prompts: Prompts,
  keys: readonly string[],
  known: FieldValue,
): Promise<FieldValue> {
  const pairs = typeof known === 'object' && !Array.isArray(known) ? Object.entries(known) : [];
  const message = `Renamed claims (empty: none; of ${keys.join(', ')}, such as user_id=oid)`;
  const typed = await prompts.text(message, pairs.map((pair) => pair.join('=')).join(', '));
  const said = splitList(typed).map((pair): [string, string] => {
    const [key = '', ...claim] = pair.split('=');
    return [key.trim(), claim.join('=').trim()];
  });
  const right = said.filter(([key, claim]) => keys.includes(key) && claim !== '');
  return right.length === 0 ? '' : Object.fromEntries(right);
}

function shown(value: FieldValue, name: string): string {
  if (typeof value === 'string') return value === '' && name === 'target' ? 'ops' : value;
  return Object.values(value).join(', ');
}
