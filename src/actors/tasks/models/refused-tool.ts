/** A tool's name as offered to a provider, and its original name. */
export interface OfferedName {
  wire: string;
  tool: string;
}

/** Position of a tool in a request, in the notation of google, and of anthropic and openai. */
const places = [/function_?declarations\[(\d{1,4})\]/i, /\btools(?:\.|\[)(\d{1,4})\b/];

/** Returns the tool that a provider names when refusing a request; `null` if it names none. */
export function refusedTool(message: string, tools: readonly OfferedName[]): string | null {
  const named = tools.find(({ wire }) =>
    [`'${wire}'`, `"${wire}"`, `\`${wire}\``].some((quoted) => message.includes(quoted)),
  );
  if (named !== undefined) return named.tool;
  const place = places.map((one) => one.exec(message)?.[1]).find((found) => found !== undefined);
  return place === undefined ? null : (tools[Number(place)]?.tool ?? null);
}
