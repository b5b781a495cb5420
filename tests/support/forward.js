// Fetches what the header X-Target says, as the Worker's entrypoints do for containers: nothing is followed or read. With
// X-Patience, milliseconds, it gives up after that time.
export default {
  fetch(request) {
    const headers = new Headers(request.headers);
    const [target, patience] = [headers.get("x-target"), headers.get("x-patience")];
    // The Host is that of Miniflare's own way in.
    for (const name of ["host", "x-target", "x-patience"]) headers.delete(name);
    const signal = patience && AbortSignal.timeout(Number(patience));
    return fetch(target, { method: request.method, headers, body: request.body, redirect: "manual", ...(signal && { signal }) });
  },
};
