// What tests borrow: tones, ears, seeded randomness and process helpers.
