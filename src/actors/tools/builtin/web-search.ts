import { parseJson } from '../../../machines/json.ts';
import { redactSecrets } from '../../governance/governance.ts';
import { type Tool, ToolError, type ToolRun } from '../../ports/tool.ts';
import { type BuiltinDependencies, builtinTool } from './builtin-tool.ts';
import { bodyText } from './http-body-text.ts';
import { requestOutside } from './outbound-request.ts';
import { searchService } from './search-service.ts';

const longestSnippet = 1_000;

/** A search result. */
interface Found {
  title: string;
  url: string;
  snippet: string;
  date?: string;
}

/**
 * Searches the web with the service in `tools` (docs/contract/models.md). The service is the operator's choice, so
 * requests use the daemon's own scope with the operator's key, which never appears in a result.
 */
export function webSearch({ env, settings }: Pick<BuiltinDependencies, 'env' | 'settings'>): Tool {
  return builtinTool<{ query: string; limit?: number }>({
    name: 'web_search',
    description:
      'Searches the web and returns a JSON list of pages, each with title, url and snippet. Use web_fetch to read one.',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 400, description: 'What to look for' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 20,
          description: 'How many pages to return at most; 5 if omitted',
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    idempotent: true,
    async run({ query, limit = 5 }, run) {
      const { url, keyVariable } = searchService(settings('web_search'));
      const key = env[keyVariable] ?? '';
      if (key === '') {
        const message = `web_search needs the environment variable ${keyVariable}; set it`;
        throw new ToolError(message, { kind: 'not configured' });
      }
      const request = {
        tool: 'web_search',
        url: new URL(url),
        read,
        init: requestOf(key, { query, max_results: limit }),
      };
      const pages = await onOwnBehalf(run, () => requestOutside(request, run));
      return redactSecrets(JSON.stringify(pages.slice(0, limit)), [key]);
    },
  });
}

function requestOf(key: string, body: object): RequestInit {
  return {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    // A redirect would send the key to another host.
    redirect: 'error',
  };
}

function onOwnBehalf<Result>(run: ToolRun, ask: () => Promise<Result>): Promise<Result> {
  const { taskId, correlationId, tags } = run;
  return run.outbound?.within?.({ taskId, correlationId, tags, isOwn: true }, ask) ?? ask();
}

async function read(answer: Response): Promise<Found[]> {
  const { status } = answer;
  const text = await bodyText(answer, 2);
  if (status === 401 || status === 403) {
    throw new ToolError('web_search: the search service refused the key; set another', {
      kind: `status ${status}`,
    });
  }
  if (status !== 200) {
    throw new ToolError(`web_search: the search service answered with status ${status}`, {
      kind: `status ${status}`,
    });
  }
  const pages = pagesIn(text);
  if (pages !== null) return pages;
  throw new ToolError('web_search: the search service answered something else than results', {
    kind: 'unreadable answer',
  });
}

function pagesIn(text: string): Found[] | null {
  const { results } = Object(parseJson(text)) as { results?: unknown };
  return Array.isArray(results) ? results.map(pageOf).filter(({ url }) => url !== '') : null;
}

/** Both services return `title` and `url`; the text is `content` in one and `snippet` in the other. */
function pageOf(result: unknown): Found {
  const { title, url, content, snippet, date } = (result ?? {}) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' ? value.toWellFormed() : '');
  return {
    title: text(title).slice(0, 300),
    url: text(url).slice(0, 2_000),
    snippet: text(snippet ?? content).slice(0, longestSnippet),
    ...(text(date) === '' ? {} : { date: text(date).slice(0, 40) }),
  };
}
