import { type Tool, ToolError } from '../../ports/tool.ts';
import { builtinTool } from './builtin-tool.ts';
import type { htmlToText } from './html-to-text.ts';
import { httpArgumentsProblem } from './http-arguments.ts';
import { bodyText } from './http-body-text.ts';
import { requestOutside } from './outbound-request.ts';
import { runApart } from './run-apart.ts';

const timeout = 10_000;

/** Maximum size of a page, in MiB. */
const mebibytes = 4;

const usualCharacters = 50_000;

/** Arguments of the model. */
interface Asked {
  url: string;
  whole_page?: boolean;
  offset?: number;
  limit?: number;
}

/** A fetched page before conversion. */
interface Page {
  status: number;
  url: string;
  isHtml: boolean;
  body: string;
}

/**
 * Fetches a page through the egress policy and returns its readable text (docs/contract/egress.md,
 * docs/contract/models.md).
 */
export function webFetch(): Tool {
  return builtinTool<Asked>({
    name: 'web_fetch',
    description:
      'Fetches a web page and returns its text, with headings, lists, tables and the addresses of its links, without scripts and styles. What is no HTML, such as JSON, is returned as it is.',
    parameters: {
      type: 'object',
      properties: {
        url: { type: 'string', description: 'An http or https URL' },
        whole_page: {
          type: 'boolean',
          description:
            'Whether navigation and the like are returned in addition to the main part; false if omitted',
        },
        offset: {
          type: 'integer',
          minimum: 0,
          description: 'How many characters of the text to skip; 0 if omitted',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 500_000,
          description: `How many characters to return at most; ${usualCharacters} if omitted`,
        },
      },
      required: ['url'],
      additionalProperties: false,
    },
    idempotent: true,
    check(args) {
      const problem = httpArgumentsProblem({ url: args['url'] ?? '' });
      return problem === null ? null : `web_fetch: ${problem}`;
    },
    async run({ url, whole_page = false, offset = 0, limit = usualCharacters }, run) {
      const page = await requestOutside(
        {
          tool: 'web_fetch',
          url: new URL(url),
          read: pageOf,
          init: {
            headers: { accept: 'text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1' },
          },
        },
        run,
      );
      if (page.status >= 400) {
        const message = `web_fetch: ${page.url} answered with status ${page.status}`;
        throw new ToolError(message, { kind: `status ${page.status}` });
      }
      const text = page.isHtml
        ? await runApart<typeof htmlToText>({
            tool: 'web_fetch',
            from: import.meta,
            module: './html-to-text',
            exported: 'htmlToText',
            timeout,
            signal: run.signal,
            input: { html: page.body, url: page.url, isWhole: whole_page },
          })
        : page.body;
      return part(text, offset, limit);
    },
  });
}

async function pageOf(response: Response): Promise<Page> {
  const type = response.headers.get('content-type') ?? '';
  return {
    status: response.status,
    url: withoutFragment(response.url),
    isHtml: /^(?:text\/html|application\/xhtml\+xml)\b/i.test(type.trim()),
    body: await bodyText(response, mebibytes),
  };
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, '');
}

function part(text: string, offset: number, limit: number): string {
  const shown = text.slice(offset, offset + limit).toWellFormed();
  const end = offset + shown.length;
  if (end >= text.length) return shown;
  return `${shown}\n[characters ${offset} to ${end} of ${text.length}; continue with offset ${end}]`;
}
