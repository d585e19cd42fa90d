import { ToolError } from '../../ports/tool.ts';

const reasons: Record<string, string> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of it is not a folder',
  EISDIR: 'it is a folder',
  ELOOP: 'it has become a link',
  EACCES: 'the agent may not open it',
  EPERM: 'the agent may not open it',
  ENAMETOOLONG: 'it is too long',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk cannot be written to',
};

/** Converts a file system error to a tool error without a path of this machine. */
export function fileFailure(tool: string, error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
  const reason = reasons[code] ?? `it cannot be used (${code})`;
  return new ToolError(`${tool}: argument path cannot be used: ${reason}`, {
    kind: 'file unusable',
    cause: error,
  });
}
