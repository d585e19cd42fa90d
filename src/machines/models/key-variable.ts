/** The variables that hold a key when no other is named; a server of somebody's own gets none unasked. */
const usualVariables: Readonly<Record<string, string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
};

/** Names the variable that holds the key of a provider of models; `null` where none is usual. */
export function usualKeyVariable(provider: string): string | null {
  return Object.hasOwn(usualVariables, provider) ? (usualVariables[provider] ?? null) : null;
}
