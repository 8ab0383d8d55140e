import { ApiError } from '../../http/api-error.js';
import type { Answer } from '../../http/request.js';
import { toApiError } from '../errors.js';

/**
 * Headers of all answers to pages of the dashboard. A page loads nothing from elsewhere, has no inline code or style, and is not framed. Browsers
 * do not send its address to other sites.
 */
export const SECURITY_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** An error with the security headers. */
export function withSecurityHeaders({ status, errors, headers, cause, reason }: ApiError): ApiError {
  return new ApiError(status, errors, { ...SECURITY_HEADERS, ...headers }, cause, reason);
}

/** Adds the security headers to an answer, and to an error. */
export async function secured(answer: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    const { headers, ...rest } = await answer();
    return { ...rest, headers: { ...SECURITY_HEADERS, ...headers } };
  } catch (error) {
    const apiError = toApiError(error) ?? error;
    throw apiError instanceof ApiError ? withSecurityHeaders(apiError) : error;
  }
}
