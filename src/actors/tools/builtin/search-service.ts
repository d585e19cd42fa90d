import type { ToolConfig } from './tool-config.ts';

/** URL of a search service, and the variable that holds its key. */
export interface SearchService {
  url: string;
  keyVariable: string;
}

const services = {
  tavily: { url: 'https://api.tavily.com/search', keyVariable: 'TAVILY_API_KEY' },
  perplexity: { url: 'https://api.perplexity.ai/search', keyVariable: 'PERPLEXITY_API_KEY' },
} satisfies Record<string, SearchService>;

/** Returns the service in the settings of `web_search`; Tavily by default. */
export function searchService({ provider, base_url, api_key_env }: ToolConfig): SearchService {
  const usual = services[provider ?? 'tavily'];
  return { url: base_url ?? usual.url, keyVariable: api_key_env ?? usual.keyVariable };
}
