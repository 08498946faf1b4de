// TODO (about 10 lines): pair e % pairs of head e / pairs, columns c = 2 (e % pairs) and c + 1 of its
// d, turned by the angle of its token: y[c] = x[c] cos - x[c + 1] sin, y[c + 1] = x[c] sin + x[c + 1] cos.
// The last column of an odd d has no partner: it is copied.
// Hint: x is [N, H, d]: e / pairs counts heads through all tokens. angles is [N, d]: a token's row has
// the cosine of pair p at 2 p, its sine behind it. y may be x.
