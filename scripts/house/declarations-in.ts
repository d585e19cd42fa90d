/** Facts that several layers carry, by the name on the wire. */
export const facts = [
  'four_eyes',
  'require_reason',
  'require_passkey',
  'args_sha256',
  'expires_at',
];

/** Counts the types and schemas that declare a fact, under its name on the wire or in code. */
export function declarationsIn(files: readonly { text: string }[], fact: string): number {
  const inCode = fact.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const declaration = new RegExp(
    `^ +(?:readonly )?(?:${fact}|${inCode})\\??: (?:[^,()\\n]*;|z$|z\\..*)$`,
    'gm',
  );
  return files.reduce((sum, { text }) => sum + [...text.matchAll(declaration)].length, 0);
}
