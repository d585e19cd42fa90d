/** The path of the page of approvals. */
export const approvalsPath = '/approvals/';

/** Returns the address of a call on the page of approvals, and the address of any other page as it is. */
export function pageOfCall(pageUrl: string, deferralId: string): string {
  const isApprovals = pageUrl.endsWith(approvalsPath);
  return isApprovals ? `${pageUrl}#/calls/${encodeURIComponent(deferralId)}` : pageUrl;
}
