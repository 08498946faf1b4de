// Your class, in about 16 lines: dS^T = P^T o (dP^T - delta) o cap'(S^T), where the soft-cap
// c tanh(s / c) has the derivative cap'(s) = 1 - tanh(s / c)². weigh_keys caps S^T first, and writes
// P^T over it: what do you need of S^T later?
