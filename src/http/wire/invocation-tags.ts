import {
  depthHeader,
  depthTag,
  isDepth,
  isTagValue,
  tenancyHeaders,
  workflowHeaders,
} from '../../machines/workflow.ts';

/** The workflow tags of a request; `dropped` names the headers with an invalid identifier. */
export interface ReadTags {
  tags: Record<string, string>;
  dropped: string[];
}

/** Reads a request's workflow and tenancy headers; `get` returns an empty text for an absent header. */
export function readInvocationTags(get: (header: string) => string): ReadTags {
  const tags: Record<string, string> = {};
  const dropped: string[] = [];
  for (const [header, key] of [...workflowHeaders, ...tenancyHeaders]) {
    const value = get(header).trim();
    if (isTagValue(value)) tags[key] = value;
    else if (value !== '') dropped.push(header);
  }
  const depth = get(depthHeader).trim();
  if (isDepth(depth)) tags[depthTag] = depth;
  else if (depth !== '') dropped.push(depthHeader);
  return { tags, dropped };
}
