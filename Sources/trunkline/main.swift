print("trunkline")
