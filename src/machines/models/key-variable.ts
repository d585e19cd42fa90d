/** Default variables of API keys by provider. A self-hosted server gets no key unless one is configured. */
const usualVariables: Readonly<Record<string, string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
};

/** Returns the default variable of a model provider's API key; `null` if there is none. */
export function usualKeyVariable(provider: string): string | null {
  return Object.hasOwn(usualVariables, provider) ? (usualVariables[provider] ?? null) : null;
}
